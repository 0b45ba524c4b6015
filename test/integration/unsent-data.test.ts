import { spawnSync } from "node:child_process";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Session, SessionInfo } from "../../src/index.ts";
import { cutImagesShort } from "../support/run-in-daemon.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const GENERATIONS = 10;

/**
 * A sender queues all that fits, while its reader does not read. When /root/go appears, the sender
 * goes on to the end; the reader says whether all has come in order, and answers over the same
 * connection, and the sender says what it heard.
 */
const STALLED = `
import os, socket, sys, threading, time
address, reader_is = sys.argv[1:]
family = socket.AF_INET6 if ":" in address else socket.AF_INET
BLOCKS = 20_000
data = b"".join(number.to_bytes(4, "big") * 256 for number in range(BLOCKS))
def say(line):
    with open("/root/said", "a") as said: said.write(line + "\\n")
def wait():
    while not os.path.exists("/root/go"): time.sleep(0.02)
def read(connection):
    wait()
    received = bytearray()
    while len(received) < len(data): received += connection.recv(1 << 16)
    say("whole" if received == data else "broken")
    connection.sendall(b"thanks")
server = socket.create_server((address, 0), family=family)
sender = socket.create_connection(server.getsockname()[:2])
reader, _ = server.accept()
server.close()
if reader_is == "other" and os.fork() == 0:
    sender.close()
    read(reader)
    sys.exit()
if reader_is == "same": threading.Thread(target=read, args=(reader,)).start()
else: reader.close()
sender.setblocking(False)
sent = 0
try:
    while True: sent += sender.send(data[sent:sent + 65536])
except BlockingIOError: pass
open("/root/full", "w").close()
sender.setblocking(True)
wait()
sender.sendall(data[sent:])
say(sender.recv(100).decode())
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

async function stalled(
  address: string,
  readerIs: "same" | "other",
  net: "nat" | "none" | "host",
): Promise<Session> {
  const session = await own.waypoint.new({ net });
  await session.exec(["tee", "/root/stalled.py"], { shell: "own", input: STALLED });
  await session.exec(`/usr/bin/python3 /root/stalled.py ${address} ${readerIs} &`);
  await eventually(
    "a full connection",
    async () => (await session.exec("ls /root/full", { shell: "own" })).exitCode,
    (exitCode) => exitCode === 0,
  );
  await eventually(
    "unsent data",
    () => unsentBytes(session),
    (bytes) => bytes > 0,
  );
  return session;
}

async function unsentBytes(session: Session): Promise<number> {
  const { stdout } = await session.exec("ss -Htin state established", { shell: "own" });
  return Number(/notsent:(\d+)/.exec(stdout)?.[1] ?? 0);
}

/** The tables that keep senders silent in a session's network. */
function egressHoldsIn({ pid }: SessionInfo): string[] {
  const list = [`--net=/proc/${pid}/ns/net`, "nft", "list", "tables"];
  const { stdout, status } = spawnSync("nsenter", list, { encoding: "utf8" });
  expect(status).toBe(0);
  return stdout.split("\n").filter((line) => line.includes("hold_egress"));
}

/** Lets the program finish, and returns what its two ends say. */
async function finish(session: Session): Promise<string[]> {
  await session.exec("touch /root/go", { shell: "own" });
  const said = await eventually(
    `both ends in ${session.name}`,
    async () => (await session.exec("cat /root/said", { shell: "own" })).stdout,
    (text) => text.trim().split("\n").length === 2,
  );
  return said.trim().split("\n");
}

test.each([
  ["127.0.0.1", "same", "nat"],
  ["127.0.0.1", "other", "none"],
  ["::1", "same", "none"],
  ["::1", "other", "nat"],
] as const)(
  "unsent data on %s to the %s process arrives in forks, a restore and an undo (%s)",
  async (address, readerIs, net) => {
    const session = await stalled(address, readerIs, net);
    const checkpoint = await session.checkpoint();

    const forks = await checkpoint.fork(2);

    for (const fork of forks) expect(await finish(fork)).toEqual(["whole", "thanks"]);
    expect(await finish(session)).toEqual(["whole", "thanks"]);
    await session.restore(checkpoint);
    expect(await finish(session)).toEqual(["whole", "thanks"]);
    await session.restore(checkpoint);
    await session.undo();
    expect((await session.exec("cat /root/said", { shell: "own" })).stdout).toBe("whole\nthanks\n");
  },
);

test("unsent data arrives in a restore and an undo on the host's network", async () => {
  const session = await stalled("127.0.0.1", "other", "host");
  const checkpoint = await session.checkpoint();
  expect(await finish(session)).toEqual(["whole", "thanks"]);

  await session.restore(checkpoint);
  await session.restore(checkpoint);
  await session.undo();

  expect(await finish(session)).toEqual(["whole", "thanks"]);
  expect(egressHoldsIn(await session.info())).toEqual([]);
});

test("a restore that fails on the host's network leaves nothing silent", async () => {
  const session = await stalled("127.0.0.1", "same", "host");
  const bad = await session.checkpoint();
  await cutImagesShort(own, bad);

  await expect(session.restore(bad)).rejects.toMatchObject({ code: "CHECKPOINT_INCOMPLETE" });

  expect(egressHoldsIn(await session.info())).toEqual([]);
  expect(await finish(session)).toEqual(["whole", "thanks"]);
});

test(`unsent data arrives after ${GENERATIONS} generations`, async () => {
  const session = await stalled("127.0.0.1", "other", "nat");

  for (let generation = 0; generation < GENERATIONS; generation += 1) {
    await session.restore(await session.checkpoint());
  }

  expect(await unsentBytes(session)).toBeGreaterThan(0);
  expect(await finish(session)).toEqual(["whole", "thanks"]);
  expect(egressHoldsIn(await session.info())).toEqual([]);
});
