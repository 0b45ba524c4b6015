import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Its wait is interrupted by a checkpoint, which it takes for the end, as many a server in C does. */
const ENDS_WITH_ITS_WAIT = `
import ctypes, os, select, threading, time
for _ in range(60):
    threading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()
epoll = select.epoll()
wait = ctypes.CDLL(None).epoll_wait
open("/root/waits", "w").close()
wait(epoll.fileno(), ctypes.create_string_buffer(64), 1, 1000000)
os._exit(7)
`;

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web" });
  await session.exec(`cat > /root/ends.py <<'END'${ENDS_WITH_ITS_WAIT}END`);
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

async function exitCodeIn(where: Session): Promise<string> {
  const read = () => where.exec("cat /root/code", { shell: "own" });
  return (await eventually("the end of the program", read, ({ stdout }) => stdout !== "")).stdout;
}

test("a program of many threads that ends as it comes back has come back", async () => {
  const running = session.exec("python3 /root/ends.py; echo $? > /root/code");
  running.catch(() => {});
  await eventually(
    "the program to wait",
    () => session.exec("ls /root/waits", { shell: "own" }),
    ({ exitCode }) => exitCode === 0,
  );

  const checkpoint = await session.checkpoint();
  const forks = await checkpoint.fork(3);

  for (const each of [session, ...forks]) expect(await exitCodeIn(each)).toBe("7\n");
  await session.restore(checkpoint);
  expect(await exitCodeIn(session)).toBe("7\n");
  expect(await session.exec("echo whole")).toMatchObject({ stdout: "whole\n" });
});
