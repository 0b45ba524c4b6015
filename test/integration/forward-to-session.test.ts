import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { hasCode, type Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { failureOf } from "../support/failing-command.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Says its word, which its memory alone knows; a line it is told is its new word. */
const SERVER = `
import socket, sys
word = sys.argv[1]
server = socket.create_server(("", 3000))
while True:
    connection, _ = server.accept()
    connection.sendall((word + "\\n").encode())
    told = connection.makefile().readline().strip()
    if told: word = told
    connection.close()
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

async function serving(net: "nat" | "none" = "nat", word = "first"): Promise<Session> {
  const session = await own.waypoint.new({ net });
  await session.exec(["tee", "/root/server.py"], { shell: "own", input: SERVER });
  await session.exec(`/usr/bin/python3 /root/server.py ${word} &`);
  await eventually(
    "a server in the session",
    async () => (await session.exec("ss -Hltn sport = :3000", { shell: "own" })).stdout,
    (listening) => listening !== "",
  );
  return session;
}

/** What a session reads from a port of its own loopback, whose server is told a new word. */
async function wordIn(session: Session, port: number, newWord = ""): Promise<string> {
  const talk = `exec 3<>/dev/tcp/127.0.0.1/${port} && echo ${newWord} >&3 && head -n 1 <&3`;
  return (await session.exec(["bash", "-c", talk], { shell: "own" })).stdout.trim();
}

test.each(["nat", "none"] as const)(
  "a port is reached on another session's loopback (%s)",
  async (net) => {
    const [server, client, stranger] = await Promise.all([
      serving(net),
      own.waypoint.new({ net }),
      own.waypoint.new({ net }),
    ]);

    const forward = await server.forward(3000, { to: client.name });

    expect(forward).toMatchObject({ to: client.id, toName: client.name, listening: true });
    expect(await wordIn(client, forward.hostPort)).toBe("first");
    expect(await wordIn(stranger, forward.hostPort)).toBe("");
    expect(await server.forwards()).toEqual([forward]);
    expect(await client.forwards()).toEqual([forward]);
    expect(await stranger.forwards()).toEqual([]);
  },
);

test("by default a session reaches no other's port, wherever that is brought", async () => {
  const [server, client] = [await serving(), await own.waypoint.new()];
  const { hostPort } = await server.forward(3000);
  const { address } = await server.info();

  for (const [target, port] of [
    [address, 3000],
    ["127.0.0.1", 3000],
    ["127.0.0.1", hostPort],
    ["100.64.0.2", 3000],
    ["$(ip route show default | cut -d ' ' -f 3)", hostPort],
  ] as const) {
    const talk = `timeout 2 bash -c "exec 3<>/dev/tcp/${target}/${port} && head -n 1 <&3"`;
    const { stdout } = await client.exec(talk, { shell: "own" });
    expect([target, port, stdout]).toEqual([target, port, ""]);
  }
  // All of these lead to the server from where they may.
  for (const target of [address, "127.0.0.1", "100.64.0.2"]) {
    const talk = `exec 3<>/dev/tcp/${target}/3000 && echo >&3 && head -n 1 <&3`;
    const { stdout } = await server.exec(["bash", "-c", talk], { shell: "own" });
    expect([target, stdout]).toEqual([target, "first\n"]);
  }
});

test("it goes on after a restore and an undo of either, and the end of the daemon", async () => {
  const [server, client] = [await serving(), await own.waypoint.new()];
  const forward = await server.forward(3000, { to: client.id, hostPort: 4000 });
  const [before, there] = [await server.checkpoint(), await client.checkpoint()];
  expect(await wordIn(client, 4000, "second")).toBe("first");

  await client.restore(there);
  expect(await wordIn(client, 4000)).toBe("second");
  await server.restore(before);
  expect(await wordIn(client, 4000)).toBe("first");
  await client.undo();
  await server.undo();
  expect(await wordIn(client, 4000)).toBe("second");

  await killDaemon(await own.daemonPid());
  expect(await server.forwards()).toEqual([forward]);
  expect(await wordIn(client, 4000)).toBe("second");
});

test("a stop of the other session keeps it, and a fork of that does not have it", async () => {
  const [server, client] = [await serving(), await own.waypoint.new()];
  const forward = await server.forward(3000, { to: client.id });
  const [fork] = await (await client.checkpoint()).fork(1);
  expect(fork && (await wordIn(fork, forward.hostPort))).toBe("");

  const { checkpoint } = await client.stop();
  expect(await server.forwards()).toEqual([{ ...forward, listening: false }]);
  await client.restore(checkpoint ?? "");

  expect(await wordIn(client, forward.hostPort)).toBe("first");
});

test("it ends with --stop, and when one of the sessions is removed", async () => {
  const [server, one, two] = [await serving(), await own.waypoint.new(), await own.waypoint.new()];
  const here = await server.forward(3000);
  const first = await server.forward(3000, { to: one.id, hostPort: 4000 });
  const second = await server.forward(3000, { to: two.id, hostPort: 4000 });

  expect(await server.stopForward(3000, { to: one.id })).toEqual({ ...first, listening: false });
  expect(await wordIn(one, 4000)).toBe("");
  expect(await wordIn(two, 4000)).toBe("first");
  await server.forward(3000, { to: one.id, hostPort: 4000 });
  await two.remove({ force: true });
  expect(await server.forwards()).toEqual([first, here].sort((a, b) => a.hostPort - b.hostPort));
  await server.remove({ force: true });

  expect(await one.forwards()).toEqual([]);
  expect(await wordIn(one, 4000)).toBe("");
  expect(second.to).toBe(two.id);
});

test("mistakes are refused, and nothing is left", async () => {
  const [server, client, onHost] = [
    await serving(),
    await own.waypoint.new(),
    await own.waypoint.new({ net: "host" }),
  ];
  const third = await serving("nat", "third");
  await server.forward(3000, { to: client.id, hostPort: 4000 });
  const refusals: [Promise<unknown>, Parameters<typeof hasCode>[1]][] = [
    [server.forward(3000, { to: "nobody" }), "SESSION_NOT_FOUND"],
    [server.forward(3000, { to: server.id }), "USAGE_INVALID"],
    [server.forward(3000, { to: onHost.id }), "FORWARD_REFUSED"],
    [server.forward(3000, { to: third.id, hostPort: 3000 }), "PORT_IN_USE"],
    [server.forward(3000, { to: client.id, hostPort: 4001 }), "PORT_IN_USE"],
    [third.forward(3000, { to: client.id, hostPort: 4000 }), "PORT_IN_USE"],
    [third.stopForward(3000, { to: client.id }), "FORWARD_NOT_FOUND"],
    [server.stopForward(3000), "FORWARD_NOT_FOUND"],
  ];

  for (const [refused, code] of refusals) {
    await expect(refused).rejects.toSatisfy((error: unknown) => hasCode(error, code));
  }
  expect(await third.forwards()).toEqual([]);
  await client.stop();
  await expect(third.forward(3000, { to: client.id })).rejects.toSatisfy((error: unknown) =>
    hasCode(error, "SESSION_WRONG_STATE"),
  );
  expect(await third.forwards()).toEqual([]);
});

test("the command line forwards to a session, lists and stops", async () => {
  const [server, client] = [await serving(), await own.waypoint.new()];
  const { stateDir } = own;
  const to = ["--to", client.name];

  const made = await runCommand(stateDir, ["forward", server.name, "3000:4000", ...to]);

  expect(made.stdout).toBe(`Port 3000 of ${server.name} is 127.0.0.1:4000 in ${client.name}.\n`);
  const listed = await runCommand(stateDir, ["forward"]);
  expect(listed.stdout).toMatch(
    new RegExp(`${server.name} +3000 +127.0.0.1:4000 +${client.name} +listening`),
  );
  const stopped = await runCommand(stateDir, ["forward", server.name, "3000", "--stop", ...to]);
  expect(stopped.stdout).toBe(
    `Port 3000 of ${server.name} is not forwarded to ${client.name} any more.\n`,
  );
  const unclear = await failureOf(own, ["forward", server.name, ...to]);
  expect(unclear.error.code).toBe("USAGE_INVALID");
});
