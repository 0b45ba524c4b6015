import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { pythonHolder } from "./python-holder.ts";
import { Stage } from "./stage.ts";

/** A sender that goes on until nothing more fits; its reader does not read. */
const STALLED = `
import socket
state = []
server = socket.create_server(("127.0.0.1", 0))
sender = socket.create_connection(server.getsockname())
reader, _ = server.accept()
sender.setblocking(False)
try:
    while True: sender.send(bytes(1 << 20))
except BlockingIOError: pass
def see(): return str(state)
def change(mark): state.append(mark)
`;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

test("a connection full of unsent data does not come back, and nothing else is lost", async () => {
  const program = pythonHolder("stalled", STALLED);
  const fresh = await own.waypoint.new();
  const stage = await Stage.fork(await fresh.checkpoint());
  await program.start(stage);
  const checkpoint = await stage.session.checkpoint();
  await program.change(stage, "later");

  const restoring = stage.session.restore(checkpoint);

  await expect(restoring).rejects.toMatchObject({
    code: "CRIU_RESTORE_FAILED",
    message: expect.stringContaining("not-sent send queue data"),
  });
  expect(await program.see(stage)).toBe("state ['later']");
  const files = await stage.session.checkpoint({ filesOnly: true });
  const [fork] = await files.fork();
  expect((await fork?.exec("ls /root/holder.py"))?.exitCode).toBe(0);
  await fork?.remove({ force: true });
  await stage.remove();
  await fresh.remove({ force: true });
});
