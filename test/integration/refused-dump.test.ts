import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callOperation } from "../../src/client/index.ts";
import type { Session } from "../../src/index.ts";
import { failureOf } from "../support/failing-command.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { readWholeState } from "../support/whole-state.ts";

const LIMITS = readFileSync(new URL("../../docs/limits.md", import.meta.url), "utf8");

/** One that runs from a memfd is called after the memfd, or after its descriptor. */
const PROGRAM = /^(python3|memfd:program|3)$/;

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
    message: /^Process \d+ \(python3\) has a UDP socket that holds back unsent data \(UDP_CORK\)/,
    resource: "corked UDP socket",
  },
  {
    what: "a POSIX message queue",
    program: `import ctypes
assert ctypes.CDLL(None).mq_open(b"/queue", 0o102, 0o600, None) >= 0`,
    message: /^Process \d+ \(python3\) has the POSIX message queue \/queue open \(descriptor 3\)/,
    resource: "POSIX message queue /queue (descriptor 3)",
  },
  {
    what: "a pidfd of a thread",
    program: `import ctypes, os
assert ctypes.CDLL(None).syscall(434, os.getpid(), 0o200) >= 0`,
    message: /^Process \d+ \(python3\) has a pidfd of a thread \(PIDFD_THREAD\)/,
    resource: "pidfd of a thread",
  },
  {
    what: "a memfd of huge pages",
    program: `import os
os.memfd_create("pool", 4)`,
    message: /^Process \d+ \(python3\) has the memfd pool of huge pages \(descriptor 3\)/,
    resource: "memfd pool (descriptor 3)",
  },
  {
    what: "/dev/tty without the terminal",
    program: `import os
os.open("/dev/tty", os.O_RDWR)
for fd in (0, 1, 2): os.dup2(os.open("/dev/null", os.O_RDWR), fd)`,
    message: /^Process \d+ \(python3\) has \/dev\/tty open, but not the terminal itself/,
    resource: "/dev/tty",
  },
  {
    what: "a process that waits for a vfork",
    program: `import ctypes, os, time
if os.fork() == 0:
    ctypes.CDLL(None).syscall(56, 0x4000 | 17, 0, 0, 0, 0)  # clone with CLONE_VFORK
    time.sleep(1000)`,
    message: /^Process \d+ \(python3\) could not be stopped in time: it waits in the kernel/,
    resource: "uninterruptible wait",
  },
  {
    what: "a pipe in packet mode",
    program: `import os
ends = os.pipe2(os.O_DIRECT)`,
    message: /^Process \d+ \(python3\) has a pipe in packet mode \(O_DIRECT\)/,
    resource: "pipe in packet mode",
  },
  {
    what: "more pipes than CRIU can note",
    program: `import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
ends = [os.pipe() for _ in range(1025)]`,
    message: /^Process \d+ \(python3\) has a pipe that is one too many: more than 1024/,
    resource: "pipes",
  },
  {
    what: "a process without its main thread",
    program: `import ctypes, os, threading, time
if os.fork() == 0:
    threading.Thread(target=time.sleep, args=[1000]).start()
    ctypes.CDLL(None).pthread_exit(None)
time.sleep(0.5)`,
    message: /^Process \d+ \(python3\) has ended its main thread while others run on/,
    resource: "main thread",
  },
  {
    what: "a watch on /proc",
    program: `import ctypes
libc = ctypes.CDLL(None)
assert libc.inotify_add_watch(libc.inotify_init1(0), b"/proc/self/status", 2) >= 0`,
    message:
      /^Process \d+ \(python3\) watches a file whose path cannot be found again \(inotify\)\.$/,
    resource: "inotify watch",
  },
  {
    what: "unread messages of the kernel",
    program: `import socket, struct
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
s.send(struct.pack("IHHII4x", 20, 18, 0x301, 1, 0))`,
    message:
      /^Process \d+ \(python3\) has a netlink socket with messages that it has not read yet\.$/,
    resource: "netlink socket",
  },
  {
    what: "a program in a memfd",
    program: `import os
m = os.memfd_create("program", 0)
os.write(m, open("/usr/bin/python3", "rb").read())
if os.fork() == 0: os.execve(m, ["python3", "-c", "import time; time.sleep(1000)"], {})`,
    message: /^Process \d+ \(\S+\) runs a program that lies in memory only/,
    resource: "program in a memfd",
    isFoundAfterwards: true,
  },
  {
    what: "an orphan adopted by another process than the first",
    program: `import ctypes, os, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
child = os.fork()
if child == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(1000)
    os._exit(0)
os.waitpid(child, 0)`,
    message: /^Process \d+ \(python3\) was adopted by process \d+ as a subreaper/,
    resource: expect.stringMatching(/^session \d+$/),
    isFoundAfterwards: true,
  },
  {
    what: "a file of a thread",
    program: `import threading, time
thread = threading.Thread(target=time.sleep, args=[1000], daemon=True); thread.start()
f = open(f"/proc/self/task/{thread.native_id}/stat")`,
    message: /^Process \d+ \(python3\) is watched through \/proc\/\d+\/task\/\d+\/stat/,
    resource: expect.stringMatching(/^\/proc\/\d+\/task\/\d+\/stat$/),
    isFoundAfterwards: true,
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
  expect(LIMITS).toContain(asInLimits(error.message));
  expect(error.detail).toMatchObject({
    processName: expect.stringMatching(PROGRAM),
    pid: expect.any(Number),
    resource: holder.resource,
    // CRIU itself does not mind those that are found in its images.
    criuErrors: holder.isFoundAfterwards
      ? []
      : expect.arrayContaining([expect.stringContaining("Error")]),
  });
  expect(await readWholeState(own)).toEqual(before);
  expect((await session.exec("kill -0 %1 && echo $PWD $MARK")).stdout).toBe("/srv kept\n");
  const ticks = await countTicks(session);
  await eventually(
    "a program that goes on",
    () => countTicks(session),
    (count) => count > ticks,
  );

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

async function countTicks(session: Session): Promise<number> {
  return Number((await session.exec("wc -l < /tmp/ticks", { shell: "own" })).stdout);
}

/** Returns a message as docs/limits.md has it, without what differs each time. */
function asInLimits(message: string): string {
  return message
    .replace(/\d+ \([\w:]+\)/, "N (NAME)")
    .replace(/\d+ \([\w:]+\)/, "M (NAME)")
    .replace(/process \d+/, "process M")
    .replace(/proc\/\d+\/task\/\d+/, "proc/N/task/M");
}

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
