import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Forward, hasCode, type Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { failureOf } from "../support/failing-command.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Says its word, which its memory alone knows, then all it is told; "=word" is a new word. */
const SERVER = `
import socket, sys, threading
word = sys.argv[2]
def serve(connection):
    global word
    connection.sendall((word + "\\n").encode())
    for line in connection.makefile():
        if line.startswith("="): word = line[1:].strip()
        connection.sendall(line.encode())
    connection.sendall(b"bye\\n")
    connection.close()
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
server = socket.create_server((sys.argv[1], 3000), family=family)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
`;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});
afterEach(async () => {
  for (const { id } of await own.waypoint.sessions()) {
    await (await own.waypoint.session(id)).remove({ force: true });
  }
});
afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

async function serving(address = "127.0.0.1", net: "nat" | "none" = "nat"): Promise<Session> {
  const session = await own.waypoint.new({ net });
  await session.exec(["tee", "/root/server.py"], { shell: "own", input: SERVER });
  await session.exec(`/usr/bin/python3 /root/server.py ${address} first &`);
  await eventually(
    "a server in the session",
    async () => (await session.exec("ss -Hltn sport = :3000", { shell: "own" })).stdout,
    (listening) => listening !== "",
  );
  return session;
}

test.each([
  ["IPv4's loopback", "127.0.0.1", "nat"],
  ["all addresses", "0.0.0.0", "nat"],
  ["IPv6's loopback", "::1", "nat"],
  ["the loopback of a session without a network", "127.0.0.1", "none"],
] as const)("a server on %s is reached on the host's loopback", async (_where, address, net) => {
  const session = await serving(address, net);

  const forward = await session.forward(3000);

  expect(forward).toMatchObject({ session: session.id, port: 3000, listening: true });
  expect(forward.answered).toBe(true);
  expect(await wordAt(forward)).toBe("first");
});

test("each of several forks has a port, and an end that only writes is heard to its end", async () => {
  const session = await serving();
  const checkpoint = await session.checkpoint();
  const forks = await checkpoint.fork(2);

  const forwards = await Promise.all([session, ...forks].map((one) => one.forward(3000)));
  for (const [index, forward] of forwards.entries()) await setWord(forward, `of-${index}`);

  expect(await Promise.all(forwards.map(wordAt))).toEqual(["of-0", "of-1", "of-2"]);
});

test("many bytes pass both ways whole, and the end of one side reaches the other", async () => {
  const session = await serving();
  const forward = await session.forward(3000);
  const line = `${"x".repeat(1023)}\n`;
  const socket = connect(forward.hostPort, "127.0.0.1");
  const received = collect(socket);

  socket.end(line.repeat(4096));

  expect(await received).toBe(`first\n${line.repeat(4096)}bye\n`);
});

test("a forward goes on after a restore and an undo; what was connected ends", async () => {
  const session = await serving();
  const forward = await session.forward(3000);
  const checkpoint = await session.checkpoint();
  await setWord(forward, "second");
  const open = connect(forward.hostPort, "127.0.0.1");
  const received = collect(open).catch(String);
  await once(open, "data");

  await session.restore(checkpoint);

  expect(await wordAt(forward)).toBe("first");
  expect(await received).toContain("second");
  await session.undo();
  expect(await wordAt(forward)).toBe("second");
});

test("an open forwarded connection lives on over a checkpoint and ends in the fork", async () => {
  const session = await serving();
  const forward = await session.forward(3000);
  const open = connect(forward.hostPort, "127.0.0.1");
  await once(open, "data");

  const [fork] = await (await session.checkpoint()).fork(1);

  open.write("still here\n");
  expect(String((await once(open, "data"))[0])).toBe("still here\n");
  const established = "ss -Htn state established sport = :3000";
  expect((await fork?.exec(established, { shell: "own" }))?.stdout).toBe("");
  expect((await session.exec(established, { shell: "own" })).stdout).not.toBe("");
  open.destroy();
});

test("forwards outlive the daemon, a stop of the session, and are gone with it", async () => {
  const session = await serving();
  const forward = await session.forward(3000);
  await killDaemon(await own.daemonPid());

  expect(await session.forwards()).toEqual([forward]);
  expect(await wordAt(forward)).toBe("first");

  const { checkpoint } = await session.stop();
  await expect(wordAt(forward)).rejects.toMatchObject({ code: "ECONNRESET" });
  await session.restore(checkpoint ?? "");
  expect(await wordAt(forward)).toBe("first");

  await session.remove({ force: true });
  await expect(wordAt(forward)).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

test("a port that is taken when the daemon starts again is said, and mended later", async () => {
  const session = await serving();
  const forward = await session.forward(3000);
  await killDaemon(await own.daemonPid());
  const intruder = createServer().listen(forward.hostPort, "127.0.0.1");
  await once(intruder, "listening");

  expect(await session.forwards()).toEqual([{ ...forward, listening: false }]);
  await expect(session.forward(3000)).rejects.toSatisfy((e) => hasCode(e, "PORT_IN_USE"));
  intruder.close();
  await once(intruder, "close");

  expect(await session.forward(3000)).toEqual(forward);
  expect(await wordAt(forward)).toBe("first");
});

test("nothing behind the port: the connection is reset, the daemon lives", async () => {
  const session = await own.waypoint.new();

  const forward = await session.forward(3000);

  await expect(wordAt(forward)).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(await session.forwards()).toEqual([forward]);
});

test("a second forward of a port is the first one; other uses of a port are refused", async () => {
  const session = await serving();
  const other = await own.waypoint.new();
  const forward = await session.forward(3000);
  const { hostPort } = forward;

  expect(await session.forward(3000)).toEqual(forward);
  expect(await session.forward(3000, { hostPort })).toEqual(forward);
  for (const refused of [
    session.forward(3000, { hostPort: hostPort === 65_535 ? 65_534 : hostPort + 1 }),
    other.forward(3000, { hostPort }),
  ]) {
    await expect(refused).rejects.toSatisfy((error) => hasCode(error, "PORT_IN_USE"));
  }
  expect(await other.forwards()).toEqual([]);
});

test("a port of another program, of the host's network and of no running session is refused", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const address = taken.address();
  const hostPort = typeof address === "object" ? (address?.port ?? 0) : 0;
  const session = await own.waypoint.new();
  const onHost = await own.waypoint.new({ net: "host" });

  await expect(session.forward(3000, { hostPort })).rejects.toSatisfy((error) =>
    hasCode(error, "PORT_IN_USE"),
  );
  taken.close();
  await expect(onHost.forward(3000)).rejects.toSatisfy((e) => hasCode(e, "FORWARD_REFUSED"));
  await session.stop();
  await expect(session.forward(3000)).rejects.toSatisfy((e) => hasCode(e, "SESSION_WRONG_STATE"));
  expect(await session.forwards()).toEqual([]);
});

test("the command line forwards, lists and stops", async () => {
  const session = await serving();
  const { name, stateDir } = { name: session.name, stateDir: own.stateDir };
  expect((await runCommand(stateDir, ["forward"])).stdout).toBe("No ports are forwarded.\n");

  const made = await runCommand(stateDir, ["forward", name, "3000"]);

  const [forward] = await session.forwards();
  expect(made.stdout).toBe(`Port 3000 of ${name} is 127.0.0.1:${forward?.hostPort} here.\n`);
  const listed = await runCommand(stateDir, ["forward", name]);
  expect(listed.stdout).toMatch(new RegExp(`${name} +3000 +127.0.0.1:${forward?.hostPort}`));
  const stopped = await runCommand(stateDir, ["forward", name, "3000", "--stop"]);
  expect(stopped.stdout).toBe(`Port 3000 of ${name} is not forwarded any more.\n`);
  if (forward !== undefined)
    await expect(wordAt(forward)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  const again = await failureOf(own, ["forward", name, "3000", "--stop"]);
  expect([again.exitCode, again.error.code]).toEqual([10, "FORWARD_NOT_FOUND"]);
  for (const args of [["70000"], ["http"], ["3000:0"], ["--stop"]]) {
    expect((await failureOf(own, ["forward", name, ...args])).error.code).toBe("USAGE_INVALID");
  }
});

/** The server's word: the first line that a new connection gets. */
async function wordAt({ hostPort }: Forward): Promise<string> {
  const socket = connect(hostPort, "127.0.0.1");
  const line = await firstLine(socket);
  socket.destroy();
  return line;
}

async function setWord({ hostPort }: Forward, word: string): Promise<void> {
  const socket = connect(hostPort, "127.0.0.1");
  socket.end(`=${word}\n`);
  expect(await collect(socket)).toContain(`=${word}\nbye\n`);
}

async function firstLine(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) {
    text += String(chunk);
    if (text.includes("\n")) break;
  }
  if (text === "") throw new Error("the connection ended without a word");
  return text.split("\n")[0] ?? "";
}

async function collect(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

test("of a port at which nothing listens in the session that is said, and no more once it does", async () => {
  const session = await own.waypoint.new({ net: "none" });

  const made = await runCommand(own.stateDir, ["forward", session.name, "3999"]);
  const listed = await runCommand(own.stateDir, ["forward", session.name]);

  expect(made.stdout).toContain("Nothing listens on port 3999 in the session yet.");
  expect(listed.stdout).toMatch(/3999 .*nothing listens in the session/);
  await session.exec("python3 -m http.server 3999 --bind 127.0.0.1 >/dev/null 2>&1 &");
  await eventually(
    "a server",
    () => session.forwards(),
    ([forward]) => forward?.answered === true,
  );
});
