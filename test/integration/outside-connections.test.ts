import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pollUntil } from "../../src/base/index.ts";
import type { Session } from "../../src/index.ts";
import { startedAtSeconds, untilReady, uptimeSeconds } from "../support/standby.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import {
  ECHO_SERVER,
  HOST_ADDRESS,
  HOST_NAMESPACE,
  reach,
  sh,
  WORLD_ADDRESS,
} from "./network-world.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

/** Holds one connection to the world and one to itself; says what it reads from each. */
const PROGRAM = `
import errno, os, socket, sys, threading
def say(line):
    with open("/root/said", "a") as said: said.write(line + "\\n")
def listen(name, connection):
    try:
        while True:
            data = connection.recv(100)
            if not data: return say(name + " end")
            say(name + " " + data.decode().strip())
    except OSError as error: say(name + " " + errno.errorcode[error.errno])
server = socket.create_server(("127.0.0.1", 3000))
ends = { "inside": socket.create_connection(("127.0.0.1", 3000)) }
accepted, _ = server.accept()
ends["outside"] = socket.create_connection((sys.argv[1], 8000))
ends["datagrams"] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ends["datagrams"].connect((sys.argv[1], 53))
for name, connection in (("inside", accepted), ("outside", ends["outside"])):
    threading.Thread(target=listen, args=(name, connection), daemon=True).start()
os.mkfifo("/root/ask")
while True:
    with open("/root/ask") as ask:
        for line in ask:
            name, word = line.split()
            try: ends[name].sendall((word + "\\n").encode())
            except OSError as error: say(name + " not sent " + errno.errorcode[error.errno])
`;

const title = "connections to the outside are the original's, those inside live on";
inPrivateNamespace(import.meta.filename, { title, network: true }, () => {
  let own: TestWaypoint;
  let world: ChildProcess;

  beforeAll(async () => {
    sh(`ip link set lo up; ip netns add world
      ip link add wan0 type veth peer name eth0 netns world
      ip address add ${HOST_ADDRESS}/24 dev wan0; ip link set wan0 up
      ip -n world address add ${WORLD_ADDRESS}/24 dev eth0; ip -n world link set eth0 up
      ip netns exec world nft 'table ip heard { counter asked { }
        chain input { type filter hook input priority 0
          tcp dport 8000 counter name asked; }; }'`);
    world = spawn("ip", ["netns", "exec", "world", "/usr/bin/python3", "-c", ECHO_SERVER]);
    await pollUntil("the world", { timeoutMs: 60_000 }, () =>
      reach(HOST_NAMESPACE, WORLD_ADDRESS) === "" ? undefined : true,
    );
    own = await openTestWaypoint();
  });
  afterAll(async () => {
    await own?.[Symbol.asyncDispose]();
    world?.kill();
  });

  async function startProgram(): Promise<Session> {
    const session = await own.waypoint.new();
    await session.exec(["tee", "/root/program.py"], { shell: "own", input: PROGRAM });
    await session.exec("sleep 1000 & kill -STOP $!");
    await session.exec(`/usr/bin/python3 /root/program.py ${WORLD_ADDRESS} &`);
    await said(session, /outside 198/);
    return session;
  }

  test("forks read an error at once, and the other end of the original's hears nothing", async () => {
    const session = await startProgram();
    const checkpoint = await session.checkpoint();
    await ask(session, "outside before");
    await said(session, /outside before/);
    const before = packetsHeard();

    const forks = await checkpoint.fork(3);

    for (const fork of forks) {
      expect(await said(fork, /ECONNABORTED/)).toContain("outside ECONNABORTED");
      await ask(fork, "outside lost");
      expect(await said(fork, /not sent/)).toContain("outside not sent EPIPE");
      await ask(fork, "inside lives");
      await said(fork, /inside lives/);
      // Nothing was stopped and continued for this: a stopped job is still stopped.
      expect((await fork.ps()).filter(({ state }) => state === "T")).toHaveLength(1);
      expect(await addressesOf(fork)).toEqual(await addressesOf(session));
    }
    expect(packetsHeard()).toBe(before);
    for (const fork of forks) {
      expect(await newConnection(fork)).toBe(HOST_ADDRESS);
      await fork.remove({ force: true });
    }
    await ask(session, "outside after");
    await said(session, /outside after/);
    await session.remove({ force: true });
  });

  test("a fork from a standby reads the error when it is let run", async () => {
    const session = await startProgram();
    const checkpoint = await session.checkpoint();
    const before = packetsHeard();
    await session.standby("head");
    await untilReady(session, checkpoint);

    const calledAt = uptimeSeconds();
    const [fork] = (await checkpoint.fork(1)) as [Session];

    expect(await startedAtSeconds(fork)).toBeLessThan(calledAt);
    expect(await said(fork, /ECONNABORTED/)).toContain("outside ECONNABORTED");
    await ask(fork, "inside lives");
    await said(fork, /inside lives/);
    expect(packetsHeard()).toBe(before);
    expect(await newConnection(fork)).toBe(HOST_ADDRESS);
    await fork.remove({ force: true });
    await ask(session, "outside after");
    await said(session, /outside after/);
    await session.remove({ force: true });
  });

  test("a restore closes them, and an undo of it too", async () => {
    const session = await startProgram();
    const checkpoint = await session.checkpoint();

    await session.restore(checkpoint);
    await said(session, /outside ECONNABORTED/);
    await session.undo();
    await said(session, /outside ECONNABORTED/);

    await ask(session, "inside lives");
    await said(session, /inside lives/);
    await session.remove({ force: true });
  });

  test("a connection from the host to a session's link does not hinder its forks", async () => {
    const session = await own.waypoint.new();
    await session.exec(["tee", "/root/echo.py"], { shell: "own", input: ECHO_SERVER });
    await session.exec("/usr/bin/python3 /root/echo.py &");
    const { address } = await session.info();
    const client = await eventually(
      "a connection to the session",
      () => open(address ?? ""),
      (socket) => socket !== null,
    );
    const checkpoint = await session.checkpoint();

    const [fork] = await checkpoint.fork(1);

    client?.write("still here\n");
    expect(await nextLine(client)).toBe("still here");
    expect(await connectionsOf(fork)).toBe("");
    expect(await connectionsOf(session)).toContain(":8000");
    client?.destroy();
    for (const one of [session, fork]) await one?.remove({ force: true });
  });
});

/** Tells the program what to send. */
async function ask(session: Session, line: string): Promise<void> {
  const done = await session.exec(`echo ${line} > /root/ask`, { shell: "own", timeoutMs: 60_000 });
  expect(done.exitCode).toBe(0);
}

async function said(session: Session, pattern: RegExp): Promise<string> {
  return await eventually(
    `${pattern} in ${session.name}`,
    async () => (await session.exec("cat /root/said", { shell: "own" })).stdout,
    (text) => pattern.test(text),
  );
}

async function newConnection(session: Session): Promise<string> {
  const script = `exec 3<>/dev/tcp/${WORLD_ADDRESS}/8000 && read -u3 line && echo $line`;
  return (await session.exec(["bash", "-c", script], { shell: "own" })).stdout.trim();
}

async function addressesOf(session: Session): Promise<string> {
  const line = "ip -4 -o address show dev lo; ip route show | sed 's/via [0-9.]*//; /^10/d'";
  return (await session.exec(line, { shell: "own" })).stdout;
}

async function connectionsOf(session: Session | undefined): Promise<string> {
  const line = "ss -Htn state established";
  return (await session?.exec(line, { shell: "own" }))?.stdout ?? "";
}

async function open(address: string): Promise<Socket | null> {
  const socket = connect(8000, address);
  try {
    await once(socket, "connect");
    await once(socket, "data");
    return socket;
  } catch {
    return null;
  }
}

async function nextLine(socket: Socket | null): Promise<string> {
  if (socket === null) return "";
  const [data] = (await once(socket, "data")) as [Buffer];
  return data.toString().trim();
}

/** Packets that came to the world's server so far. */
function packetsHeard(): number {
  const list = ["netns", "exec", "world", "nft", "list", "counter", "ip", "heard", "asked"];
  const { stdout } = spawnSync("ip", list, { encoding: "utf8" });
  return Number(/packets (\d+)/.exec(stdout)?.[1]);
}
