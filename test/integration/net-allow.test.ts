import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { ALLOWED, BELOW, OTHER, startWorld } from "../support/outside-world.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { HOST_ADDRESS, WORLD_ADDRESS } from "./network-world.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

const API = "api.example.com";
const NAMES = {
  [API]: [ALLOWED],
  "pkg.example.org": [BELOW],
  "example.org": [OTHER],
  "evil.example.com": [OTHER],
};
const LIST = "allow:api.example.com,*.example.org:8080";
/** What curl ends with when a name is not known, and when nobody takes the connection. */
const [NO_NAME, REFUSED] = [6, 7];

const title = "a session with a list reaches what is on it, and nothing else";
inPrivateNamespace(import.meta.filename, { title, network: true }, () => {
  let own: TestWaypoint;
  let world: ChildProcess;

  beforeAll(async () => {
    world = await startWorld(NAMES);
    own = await openTestWaypoint();
  });
  afterAll(async () => {
    await own?.[Symbol.asyncDispose]();
    world?.kill();
  });

  /** Returns how curl ends for each; one that is dropped instead of refused would take 20 seconds. */
  async function reach(session: Session, hosts: readonly string[]): Promise<number[]> {
    const ask = `for host in ${hosts.join(" ")}; do
      curl -s -m 20 -o /dev/null http://$host:8080/; echo $?; done`;
    const { stdout } = await session.exec(ask, { shell: "own" });
    return stdout.trim().split("\n").map(Number);
  }

  /** @param opened  whether an address of the list was asked for before. */
  async function expectList(session: Session, opened = false): Promise<void> {
    const hosts = [
      OTHER,
      "evil.example.com",
      "example.org",
      ALLOWED,
      API,
      "pkg.example.org",
      ALLOWED,
    ];
    // A bare address is open once its name was asked for.
    const found = await reach(session, hosts);
    expect(found).toEqual([REFUSED, NO_NAME, NO_NAME, opened ? 0 : REFUSED, 0, 0, 0]);
  }

  test("by name and by address, also in a fork, after a restore and after a start", async () => {
    await using session = await own.waypoint.new({ name: "listed", net: LIST });
    await expectList(session);
    const checkpoint = await session.checkpoint();
    const [fork] = await checkpoint.fork();
    await using forked = fork as Session;
    await expectList(forked);
    await session.restore(checkpoint);
    await expectList(session);
    await session.stop();
    await session.start();
    await expectList(session);

    const { stdout } = await runCommand(own.stateDir, ["ls", "--json"]);
    const { sessions } = JSON.parse(stdout) as { sessions: { allow: string[] | null }[] };
    expect(sessions.map(({ allow }) => allow)).toEqual([
      ["api.example.com", "*.example.org:8080"],
      ["api.example.com", "*.example.org:8080"],
    ]);
    expect((await checkpoint.show()).allow).toEqual(["api.example.com", "*.example.org:8080"]);
  });

  test("ranges and ports are those of the list; the host itself is not on it", async () => {
    await using session = await own.waypoint.new({ net: `allow:${OTHER}/32:8080,${BELOW}` });
    expect(await reach(session, [OTHER, BELOW, ALLOWED, HOST_ADDRESS])).toEqual([
      ...[0, 0, REFUSED, REFUSED],
    ]);
    const ports = `python3 -c '
import socket
def tell(kind, address, port):
    s = socket.socket(socket.AF_INET, kind); s.settimeout(20)
    try:
        s.connect((address, port)); s.send(b"x" * 20); s.recv(10); return "reached"
    except OSError as error: return error.strerror or str(error)
print(tell(socket.SOCK_STREAM, "${OTHER}", 8081), tell(socket.SOCK_DGRAM, "${ALLOWED}", 5353), sep="; ")'`;
    const { stdout } = await session.exec(ports, { shell: "own" });
    expect(stdout).toBe("Connection refused; No route to host\n");
  });

  test("any other name server is not reached, and damaged questions are refused", async () => {
    await using session = await own.waypoint.new({ net: LIST });
    const ask = `python3 -c '
import itertools, os, socket, struct
ids = itertools.count(7)
def question(name, kind=1):
    labels = b"".join(bytes([len(each)]) + each for each in name.split(b"."))
    return struct.pack("!6H", next(ids), 256, 1, 0, 0, 0) + labels + b"\\0" + struct.pack("!2H", kind, 1)
def code(data, server="${WORLD_ADDRESS}"):
    while True:
        s.sendto(data, (server, 53))
        try:
            # The answer to the question before may come late, and more than once.
            while (got := s.recv(2000))[:2] != data[:2]: pass
            return got[3] & 15
        except TimeoutError: pass
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(20)
for size in range(300): s.sendto(os.urandom(size), ("${OTHER}", 53))
s.close(); s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(3)
names = [b"evil.example.com", b"api.example.com.evil.example.com", b"api\\x1b.example.com", b"API.example.COM"]
print([code(question(name), "${OTHER}") for name in names])
t = socket.create_connection(("${OTHER}", 53), 20)
data = question(b"api.example.com"); t.sendall(struct.pack("!H", len(data)) + data)
print(t.recv(2000)[5] & 15)
t = socket.create_connection(("${OTHER}", 53), 20); t.sendall(b"\\xff\\xff" + b"x" * 5000)
try: print(t.recv(10))
except OSError: print(b"")
'`;
    const { stdout, stderr } = await session.exec(ask, { shell: "own" });
    expect(`${stderr}${stdout}`).toBe("[5, 5, 5, 0]\n0\nb''\n");
    await expectList(session, true);
  });

  test("a daemon that is killed leaves the list closed, and the next one answers again", async () => {
    await using session = await own.waypoint.new({ net: LIST });
    await expectList(session);
    const meanwhile = `sh -c 'sleep 3; curl -s -m 20 http://${OTHER}:8080/; echo $? >/srv/bare
      getent hosts ${API}; echo $? >/srv/name' >/dev/null 2>&1 &`;
    await session.exec(meanwhile, { shell: "own" });
    await killDaemon(await own.daemonPid());
    const { stdout } = await eventually(
      "what was tried without a daemon",
      async () => await session.exec("cat /srv/bare /srv/name", { shell: "own" }),
      ({ exitCode }) => exitCode === 0,
    );
    expect(stdout.split("\n")[0]).toBe(String(REFUSED));
    await expectList(session, true);
  });

  test("a list that is none is refused before anything is made", async () => {
    const wrong = ["allow:", "allow:exa mple.com", "allow:10.0.0.0/33", "allow:a.b:0", "allow:*"];
    for (const net of [...wrong, "allow:*.*.org", `allow:${"a.b,".repeat(101)}`]) {
      const made = await runCommand(own.stateDir, ["new", "wrong", "--net", net]);
      expect(`${made.exitCode} ${made.stderr}`).toMatch(/^2 .*allow:/s);
    }
    expect(await own.waypoint.sessions()).toEqual([]);
  });
});
