import { afterAll, beforeAll, expect, test } from "vitest";
import { callOperation } from "../../src/client/index.ts";
import type { Session } from "../../src/index.ts";
import { failureOf } from "../support/failing-command.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { readWholeState } from "../support/whole-state.ts";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

/** What a program of a session can still hold that CRIU refuses, and how that is said. */
const HOLDERS = [
  {
    what: "a process that another one traces",
    program: `import ctypes, os, time
child = os.fork()
if child == 0: time.sleep(1000)
ctypes.CDLL(None).ptrace(0x4206, child, 0, 0)`,
    message: /^Process \d+ \(python3\) is traced by process \d+ \(python3\)\.$/,
    resource: "ptrace",
  },
  {
    what: "a large deleted file",
    program: `import os
f = open("/tmp/big", "w+b")
for i in range(257): f.write(bytes([i % 251]) * (1 << 20))
f.flush(); os.unlink("/tmp/big")`,
    message: /^Process \d+ \(python3\) has the deleted file \/tmp\/big of 257 MiB open, more than/,
    resource: "deleted file /tmp/big",
  },
  {
    what: "a connection that is not accepted",
    program: `import socket
s = socket.socket(); s.bind(("127.0.0.1", 4000)); s.listen()
c = socket.create_connection(("127.0.0.1", 4000))`,
    message:
      /^Process \d+ \(python3\) has a connection in its queue that it has not accepted yet\.$/,
    resource: "connection that is not yet accepted",
  },
  {
    what: "a corked UDP socket",
    program: `import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(17, 1, 1); s.connect(("127.0.0.1", 9)); s.send(b"x")`,
    message: /^Process \d+ \(python3\) has a socket or device that cannot be checkpointed/,
    resource: "Can't dump corked dgram socket",
  },
  {
    what: "a POSIX message queue",
    program: `import ctypes
assert ctypes.CDLL(None).mq_open(b"/queue", 0o102, 0o600, None) >= 0`,
    message: /^Process \d+ \(python3\) has \/queue open \(descriptor 3\)/,
    resource: "/queue (descriptor 3)",
  },
];

test.each(HOLDERS)("$what is named, and the session goes on", async (holder) => {
  const session = await own.waypoint.new();
  await session.exec("cd /srv; export MARK=kept");
  const good = await session.checkpoint({ durable: true });
  await startHolder(session, holder.program);
  const before = await readWholeState(own);

  const { exitCode, error } = await failureOf(own, ["checkpoint", session.name]);

  expect({ code: error.code, exitCode }).toEqual({ code: "CRIU_DUMP_FAILED", exitCode: 21 });
  expect(error.message).toMatch(holder.message);
  expect(error.hint).toMatch(/\.$/);
  expect(error.detail).toMatchObject({
    processName: "python3",
    pid: expect.any(Number),
    resource: holder.resource,
    criuErrors: expect.arrayContaining([expect.stringContaining("Error")]),
  });
  expect(await readWholeState(own)).toEqual(before);
  const after = await session.exec("kill -0 %1 && echo $PWD $MARK; cat /tmp/ticks | wc -l");
  expect(after.stdout).toMatch(/^\/srv kept\n\d+\n$/);

  const files = await session.checkpoint({ filesOnly: true });
  const [fork] = await files.fork();
  expect((await fork?.exec("ls /tmp/ready"))?.stdout).toBe("/tmp/ready\n");

  await expect(session.restore(good)).rejects.toMatchObject({
    code: "CRIU_DUMP_FAILED",
    hint: expect.stringContaining("--lose-processes"),
  });
  const still = await session.exec("kill -0 %1 && echo $MARK");
  expect(still.stdout).toBe("kept\n");
  const restored = await callOperation(own.stateDir, "restore", {
    session: session.id,
    checkpoint: good.id,
    loseProcesses: true,
  });
  expect(restored.undoContent).toBe("files");
  expect((await own.waypoint.show(restored.undo ?? "")).content).toBe("files");
  expect((await session.exec("echo $PWD $MARK; jobs")).stdout).toBe("/srv kept\n");
});

/** Starts a program in the session's shell, and waits until it holds what it is to hold. */
async function startHolder(session: Session, program: string): Promise<void> {
  const script = `${program}
import time
open("/tmp/ready", "w").close()
while True:
    with open("/tmp/ticks", "a") as ticks: ticks.write("tick\\n")
    time.sleep(0.05)
`;
  const write = ["sh", "-c", "cat > /tmp/holder.py"];
  await session.exec(write, { shell: "own", input: script });
  await session.exec("python3 /tmp/holder.py &");
  await eventually(
    "a program that holds what CRIU refuses",
    async () => (await session.exec("cat /tmp/ready", { shell: "own" })).exitCode,
    (exitCode) => exitCode === 0,
  );
}
