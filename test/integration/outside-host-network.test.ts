import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Holds a connection to the outside and says what it reads from it, then connects again. */
const PROGRAM = `
import errno, socket, sys
def say(line):
    with open("/root/said", "a") as said: said.write(line + "\\n")
def connect(): return socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection = connect()
say("connected")
while True:
    try:
        data = connection.recv(100)
        if data: say(data.decode())
    except OSError as error:
        data = b""
        say(errno.errorcode[error.errno])
    if not data:
        connection = connect()
        say("connected again")
`;

let own: TestWaypoint;
let server: Server;
let port: number;
const peers: Socket[] = [];

beforeAll(async () => {
  own = await openTestWaypoint();
});
afterEach(async () => {
  for (const { id } of await own.waypoint.sessions()) {
    await (await own.waypoint.session(id)).remove({ force: true });
  }
  for (const peer of peers.splice(0)) peer.destroy();
  server.close();
});
afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

async function connected(closesToo: boolean): Promise<Session> {
  server = createServer({ allowHalfOpen: !closesToo }, (peer) => {
    peers.push(peer.on("error", () => {}).resume());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const session = await own.waypoint.new({ net: "host" });
  await session.exec(["tee", "/root/program.py"], { shell: "own", input: PROGRAM });
  await session.exec(`/usr/bin/python3 /root/program.py ${port} &`);
  await said(session, "connected\n");
  return session;
}

async function said(session: Session, expected: string): Promise<void> {
  await eventually(
    JSON.stringify(expected),
    async () => (await session.exec("cat /root/said", { shell: "own" })).stdout,
    (text) => text === expected,
  );
}

test.each([
  ["closes too", true],
  ["never closes", false],
] as const)(
  "on the host's network a restored program reads an error at once from a peer that %s",
  async (_how, closesToo) => {
    const session = await connected(closesToo);
    const checkpoint = await session.checkpoint();
    peers[0]?.write("still here");
    await said(session, "connected\nstill here\n");

    await session.restore(checkpoint);
    await said(session, "connected\nECONNABORTED\nconnected again\n");

    await session.undo();
    await said(session, "connected\nstill here\nECONNABORTED\nconnected again\n");
  },
);
