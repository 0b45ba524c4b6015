import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const ROUNDS = 25;

/** As a shell stands for a moment after each program: the foreground's process has been collected. */
const LOST_FOREGROUND = `
import os, signal, time
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
terminal = os.open("/dev/pts/0", os.O_RDWR)
ended = os.fork()
if ended == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(terminal, os.getpid())
    os._exit(0)
os.waitpid(ended, 0)
open("/root/stands", "w").close()
while not os.path.exists("/root/go"): time.sleep(0.01)
print("done")
`;

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web" });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

test("a terminal whose foreground has just ended comes back, and its program goes on", async () => {
  await session.exec(`cat > /root/lost.py <<'END'${LOST_FOREGROUND}END`);
  const running = session.exec("python3 /root/lost.py");
  await eventually(
    "the foreground to end",
    () => session.exec("ls /root/stands", { shell: "own" }),
    ({ exitCode }) => exitCode === 0,
  );

  const checkpoint = await session.checkpoint();
  const [fork] = await checkpoint.fork();

  for (const each of [session, fork as Session]) await each.exec("touch go", { shell: "own" });
  expect(await running).toMatchObject({ stdout: "done\n", exitCode: 0 });
  const seen = await fork?.exec("echo $?; rm stands go", { timeoutMs: 20_000 });
  expect(seen).toMatchObject({ stdout: "0\n", exitCode: 0 });
  await fork?.remove({ force: true });
});

test("whatever a shell does between two short programs, each checkpoint can be forked", async () => {
  const running = session.exec("while [ ! -e go ]; do /bin/true; done; echo out");
  for (let round = 0; round < ROUNDS; round += 1) {
    const checkpoint = await session.checkpoint();
    const [fork] = await checkpoint.fork();
    await fork?.exec("touch go", { shell: "own" });
    const seen = await fork?.exec("echo $?", { timeoutMs: 20_000 });
    expect(seen).toMatchObject({ stdout: "0\n", timedOut: false });
    await fork?.remove({ force: true });
  }

  await session.exec("touch go", { shell: "own" });
  expect(await running).toMatchObject({ stdout: "out\n" });
});
