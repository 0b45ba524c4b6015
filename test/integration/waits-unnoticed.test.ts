import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const GENERATIONS = 3;
const KINDS = "epoll_wait epoll_pwait epoll_pwait2 poll semop semtimedop sigwaitinfo".split(" ");

/**
 * One process for each kind of wait that has no end, which writes down what its one call returned.
 * Wakes them all when it finds a file, and then ends.
 */
const PROGRAM = `import ctypes, os, platform, signal, struct, time
# Straight into the kernel: numbers of x86-64, for which alone this is done.
libc = ctypes.CDLL(None, use_errno=True)
assert platform.machine() == "x86_64"
libc.syscall.restype = ctypes.c_long
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])

def call(kind, reader, semaphores):
    event = ctypes.create_string_buffer(64)
    epoll = libc.epoll_create1(0)
    libc.epoll_ctl(epoll, 1, reader, struct.pack("<IQ", 1, 0))
    down = struct.pack("<Hhh", 0, -1, 0)
    mask = struct.pack("<Q", 1 << (signal.SIGUSR1 - 1))
    N = ctypes.c_void_p
    return {
        "epoll_wait": lambda: libc.syscall(232, epoll, event, 1, -1),
        "epoll_pwait": lambda: libc.syscall(281, epoll, event, 1, -1, N(0), N(8)),
        "epoll_pwait2": lambda: libc.syscall(441, epoll, event, 1, N(0), N(0), N(8)),
        "poll": lambda: libc.syscall(7, struct.pack("<ihh", reader, 1, 0), 1, -1),
        "semop": lambda: libc.syscall(65, semaphores, down, 1),
        "semtimedop": lambda: libc.syscall(220, semaphores, down, 1, N(0)),
        "sigwaitinfo": lambda: libc.syscall(128, mask, N(0), N(0), N(8)),
    }[kind]()

def wait(kind):
    semaphores = libc.semget(0, 1, 0o600)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        open("/root/waits." + kind, "w").close()
        result = call(kind, reader, semaphores)
        os.write(out, b"%s %d %d\\n" % (kind.encode(), result, ctypes.get_errno() if result < 0 else 0))
        os._exit(0)
    def wake():
        os.write(writer, b"x")
        libc.semop(semaphores, struct.pack("<Hhh", 0, 1, 0), 1)
        os.kill(pid, signal.SIGUSR1)
        os.waitpid(pid, 0)
    return wake

out = os.open("/root/out", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
wakes = [wait(kind) for kind in "${KINDS.join(" ")}".split()]
while not os.path.exists("/root/wake"): time.sleep(0.01)
for wake in wakes: wake()
open("/root/done", "w").close()
`;

const SLEEP_S = 5;
/** Sleeps in each way that a checkpoint in the middle could cut short, and writes down what it was told. */
const PROGRAM_SLEEPING = `import ctypes, os, struct, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
N = ctypes.c_void_p

def relative_sleep():
    left = ctypes.create_string_buffer(struct.pack("<qq", ${SLEEP_S}, 0))
    return libc.syscall(230, 1, 0, left, left)

def futex_until():
    word = ctypes.create_string_buffer(4)
    until = struct.pack("<qq", int(time.monotonic()) + ${SLEEP_S}, 0)
    return libc.syscall(202, word, 9 | 128, 0, until, N(0), -1) == -1 and ctypes.get_errno() == 110

def deadline(kind, call):
    if os.fork() == 0:
        begun = time.monotonic()
        open("/root/waits." + kind, "w").close()
        told = int(call())
        whole = time.monotonic() - begun > ${SLEEP_S - 1.1}
        open("/root/slept." + kind, "w").write("%d %s\\n" % (told, whole))
        os._exit(0)

deadline("sleep", lambda: libc.sleep(${SLEEP_S}))
deadline("clock_nanosleep", relative_sleep)
deadline("futex", futex_until)
open("/root/waits", "w").close()
while True: time.sleep(1000)
`;

const programWithSignal = (before: string) => `import ctypes, os, select, signal
${before}
epoll = select.epoll()
wait = ctypes.CDLL(None, use_errno=True).epoll_wait
open("/root/waits", "w").close()
result = wait(epoll.fileno(), ctypes.create_string_buffer(64), 1, -1)
open("/root/out", "w").write("%d %d" % (result, ctypes.get_errno()))
`;
const INTERRUPTED = "-1 4";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

const read = async (session: Session, command: string) =>
  (await session.exec(command, { shell: "own" })).stdout;

async function waitFor(session: Session, what: string, command: string): Promise<void> {
  await eventually(
    what,
    () => session.exec(command, { shell: "own" }),
    ({ exitCode }) => exitCode === 0,
  );
}

test("a call that waits without end is not interrupted, in the session or in any fork", async () => {
  const session = await own.waypoint.new();
  await session.exec(["tee", "/root/waits.py"], { shell: "own", input: PROGRAM });
  await session.exec("/usr/bin/python3 /root/waits.py 2> /root/errors &");
  await waitFor(
    session,
    "all to wait",
    `cd /root && ls ${KINDS.map((kind) => `waits.${kind}`).join(" ")}`,
  );
  const all = [session];
  for (let generation = 0; generation < GENERATIONS; generation += 1) {
    const checkpoint = await (all.at(-1) as Session).checkpoint();
    all.push(...(await checkpoint.fork()));
  }

  for (const each of all) expect(await read(each, "cat /root/out /root/errors")).toBe("");
  for (const each of all) {
    await each.exec("touch /root/wake", { shell: "own" });
    await waitFor(each, "the program to end", "ls /root/done");
    // The number of the signal, what is ready, success.
    expect(await read(each, "cat /root/out /root/errors")).toBe(
      KINDS.map((kind) => `${kind} ${returned(kind)} 0\n`).join(""),
    );
  }
});

function returned(kind: string): number {
  if (kind === "sigwaitinfo") return 10;
  return kind.startsWith("sem") ? 0 : 1;
}

test("a sleep is as long as it was to be, in the session and in any fork", async () => {
  const session = await own.waypoint.new();
  await start(session, "/root/sleeps.py", PROGRAM_SLEEPING);
  await waitFor(
    session,
    "all to sleep",
    "cd /root && ls waits.sleep waits.clock_nanosleep waits.futex",
  );
  const all = [session];
  for (let generation = 0; generation < GENERATIONS; generation += 1) {
    all.push(...(await (await (all.at(-1) as Session).checkpoint()).fork()));
  }

  for (const each of all) {
    await waitFor(each, "all to wake", "cd /root && [ $(cat slept.* | wc -l) = 3 ]");
    expect(await read(each, "cd /root; cat slept.clock_nanosleep slept.futex slept.sleep")).toBe(
      "0 True\n1 True\n0 True\n",
    );
  }
});

test("one for which a signal waits is interrupted, since the signal may be why", async () => {
  const session = await own.waypoint.new();
  const pending =
    "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]); os.kill(os.getpid(), signal.SIGUSR1)";
  await start(session, "/root/pending.py", programWithSignal(pending));

  const [fork] = await (await session.checkpoint()).fork();

  for (const each of [session, fork as Session]) {
    await waitFor(each, "the end of the wait", "[ -s /root/out ]");
    expect(await read(each, "cat /root/out")).toBe(INTERRUPTED);
  }
});

test("one for which a signal comes during the pause is interrupted by it", async () => {
  const session = await own.waypoint.new();
  const program = `/root/${randomUUID()}.py`;
  await start(
    session,
    program,
    programWithSignal("signal.signal(signal.SIGUSR1, lambda *_: None)"),
  );
  while (!(await signalInPause(session, hostPidOf(program)))) await session.exec("true");

  await waitFor(session, "the end of the wait", "[ -s /root/out ]");
  expect(await read(session, "cat /root/out")).toBe(INTERRUPTED);
});

/**
 * Takes a checkpoint, and sends a signal while CRIU's code runs in a process, whose registers CRIU has
 * looked at by then; false if that was missed.
 */
async function signalInPause(session: Session, pid: number): Promise<boolean> {
  let isDone = false;
  const capturing = session.checkpoint().finally(() => {
    isDone = true;
  });
  let wasStopped = false;
  let isInside = false;
  while (!isDone && !isInside) {
    await delay(0);
    const status = readOr(`/proc/${pid}/status`);
    const isStopped = status.includes("State:\tt");
    wasStopped ||= isStopped;
    isInside = wasStopped && !isStopped && !status.includes("TracerPid:\t0\n");
  }
  if (isInside) process.kill(pid, "SIGUSR1");
  await capturing;
  return isInside;
}

async function start(session: Session, path: string, program: string): Promise<void> {
  await session.exec(["tee", path], { shell: "own", input: program });
  await session.exec(`/usr/bin/python3 ${path} &`);
  await waitFor(session, "the program to wait", "ls /root/waits");
}

function hostPidOf(program: string): number {
  const found = readdirSync("/proc").find(
    (name) => /^\d+$/.test(name) && readOr(`/proc/${name}/cmdline`).split("\0").includes(program),
  );
  return Number(found);
}

function readOr(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // It has ended.
  }
}
