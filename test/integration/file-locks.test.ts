import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { untilReady } from "../support/standby.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/**
 * Takes locks of every kind, most of them on files that are mapped as well, in three processes; one of
 * them is stopped, and one has signals on the way that it has blocked.
 */
const HOLDER = `import ctypes, fcntl, mmap, os, signal, struct, sys, time
SET, SET_LEASE, SET_OPEN = 6, 1024, 37

def mapped(name, readers=0):
    file = open("/root/" + name, "w+b")
    file.truncate(1 << 20)
    maps = [mmap.mmap(file.fileno(), 1 << 20)]
    others = [open("/root/" + name, "rb") for _ in range(readers)]
    return file, maps + [mmap.mmap(each.fileno(), 4096, prot=mmap.PROT_READ) for each in others], others

def lock(file, kind, start, length, command=SET):
    fcntl.fcntl(file, command, struct.pack("hhqqi4x", kind, 0, start, length, 0))

def child(work):
    if os.fork() == 0:
        kept = work()
        open("/root/ready.%d" % os.getpid(), "w").close()
        while True: time.sleep(1000)

def ranges(first):
    kept = mapped("ranges.%d" % first, readers=2)
    for index in range(40):
        lock(kept[0], fcntl.F_WRLCK if index % 2 else fcntl.F_RDLCK, first + index * 100, 50)
    lock(kept[0], fcntl.F_RDLCK, 900000, 0)
    return kept

def shared():
    kept = open("/root/whole", "r+b")
    lock(kept, fcntl.F_RDLCK, 5000, 10)
    return kept, mmap.mmap(kept.fileno(), 4096)

def odd():
    kept = ranges(7)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGRTMIN])
    for number in (signal.SIGUSR1, signal.SIGRTMIN, signal.SIGRTMIN): os.kill(os.getpid(), number)
    return kept

whole = mapped("whole")
lock(whole[0], fcntl.F_WRLCK, 0, 4096)
opened = mapped("opened")
lock(opened[0], fcntl.F_WRLCK, 10, 20, SET_OPEN)
flocked = mapped("flocked")
fcntl.flock(flocked[0], fcntl.LOCK_EX)
mapped("leased")
leased = open("/root/leased", "rb")
leased_map = mmap.mmap(leased.fileno(), 4096, prot=mmap.PROT_READ)
fcntl.fcntl(leased, SET_LEASE, fcntl.F_RDLCK)
gone = mapped("gone")
lock(gone[0], fcntl.F_WRLCK, 1, 2)
os.unlink("/root/gone")
ballast = bytearray(int(sys.argv[1]) << 20)
for at in range(0, len(ballast), 4096): ballast[at] = 1
child(shared)
child(lambda: ranges(0))
child(odd)
while True: time.sleep(1000)
`;

/** Locks by kind, access, holder and range; what holds them has the same number everywhere. */
const LOCKS =
  "grep -hs ^lock: /proc/[0-9]*/fdinfo/* | awk '{ print $3, $5, $6, $8, $9 }' | sort -u";

/** Says which of the locks another process would get. */
const THIEF = `import fcntl, struct
for name, start, length, command in [("whole", 0, 4096, 6), ("ranges.0", 100, 50, 6), ("opened", 15, 1, 37)]:
    try:
        with open("/root/" + name, "r+b") as file:
            fcntl.fcntl(file, command, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, start, length, 0))
        print("got", name)
    except BlockingIOError: pass
try: fcntl.flock(open("/root/flocked"), fcntl.LOCK_EX | fcntl.LOCK_NB); print("got flocked")
except BlockingIOError: pass
`;

/** Holds a lock on a mapped file until it finds another one. */
const HOLDER_BOUND = `import fcntl, mmap, os, time
file = open("/shared/file", "w+b")
file.truncate(4096)
map = mmap.mmap(file.fileno(), 4096)
fcntl.lockf(file, fcntl.LOCK_EX)
os.mkdir("/tmp/holds")
while not os.path.exists("/tmp/enough"): time.sleep(0.01)
`;

/** Waits for the lock, and has it until it is ended. */
const HOST_WAITER = `import fcntl, sys, time
file = open(sys.argv[1], "r+b")
print("waits", flush=True)
fcntl.lockf(file, fcntl.LOCK_EX)
time.sleep(10000)
`;

/** Ends with 1 where somebody holds a lock on the file. */
const HOST_THIEF = `import fcntl, sys
try: fcntl.lockf(open(sys.argv[1], "r+b"), fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError: sys.exit(1)
`;

const LOCKED = { code: "CRIU_RESTORE_FAILED", detail: { reason: "file_locked" } };

let own: TestWaypoint;
let sharedDir: string;

beforeAll(async () => {
  own = await openTestWaypoint();
  sharedDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-locks-"));
});

afterAll(async () => {
  rmSync(sharedDir, { recursive: true, force: true });
  await own?.[Symbol.asyncDispose]();
});

const read = async (session: Session, command: string) =>
  (await session.exec(command, { shell: "own" })).stdout;

/** Returns a session in which the holder has all its locks, and a thief lies ready. */
async function startHolder(ballastMib: number, { waypoint } = own): Promise<Session> {
  const session = await waypoint.new();
  await session.exec(["tee", "/root/holder.py"], { shell: "own", input: HOLDER });
  await session.exec(["tee", "/root/thief.py"], { shell: "own", input: THIEF });
  await session.exec(`/usr/bin/python3 /root/holder.py ${ballastMib} &`);
  await eventually(
    "all locks to be held",
    () => read(session, "ls /root/ready.* | wc -l"),
    (count) => count.trim() === "3",
  );
  return session;
}

test("every lock is held again in a restore, an undo and forks of forks", async () => {
  const session = await startHolder(1);
  const held = await read(session, LOCKS);
  const checkpoint = await session.checkpoint();
  const [fork] = await checkpoint.fork();
  const [grandchild] = await (await (fork as Session).checkpoint()).fork();
  await session.restore(checkpoint);
  await session.undo();

  expect(held.split("\n").length).toBeGreaterThan(85);
  for (const each of [session, fork as Session, grandchild as Session])
    await requireLocks(each, held);
});

test("every lock is held again while the memory of a lazy restore still comes", async () => {
  const session = await startHolder(256);
  const held = await read(session, LOCKS);

  const [fork] = await (await session.checkpoint()).fork();

  await requireLocks(fork as Session, held);
  await session.remove({ force: true });
});

test("every lock is held by a standby, and by what is made of it", async () => {
  await using parking = await openTestWaypoint({ standby: { policy: "head" } });
  const session = await startHolder(1, parking);
  const held = await read(session, LOCKS);
  const checkpoint = await session.checkpoint();
  await untilReady(session, checkpoint);
  const [fork] = await checkpoint.fork();
  await untilReady(session, checkpoint);
  await session.restore(checkpoint);
  await session.undo();

  await requireLocks(fork as Session, held);
  await requireLocks(session, held);
});

/** Returns a session in which a process holds a lock on a mapped file of a bound directory. */
async function startBoundHolder(): Promise<Session> {
  const binds = [{ source: sharedDir, target: "/shared", readOnly: false }];
  const session = await own.waypoint.new({ binds });
  await session.exec(["tee", "/root/bound.py"], { shell: "own", input: HOLDER_BOUND });
  await session.exec("/usr/bin/python3 /root/bound.py &");
  const holds = () => session.exec("ls -d /tmp/holds", { shell: "own" });
  await eventually("the lock", holds, ({ exitCode }) => exitCode === 0);
  return session;
}

test("a lock in a bound directory goes over in a restore, and a fork that needs it fails", async () => {
  const session = await startBoundHolder();
  const checkpoint = await session.checkpoint();

  await expect(checkpoint.fork()).rejects.toMatchObject(LOCKED);
  await session.restore(checkpoint);
  expect(hostCanLock()).toBe(false);

  await session.exec("touch /tmp/enough; wait", { shell: "own" });
  await untilHostCanLock();
  const [fork] = await checkpoint.fork();
  expect(hostCanLock()).toBe(false);
  await (fork as Session).remove({ force: true });
  await untilHostCanLock();
});

test("a restore whose lock somebody else gets fails, and can be made again", async () => {
  const session = await startBoundHolder();
  const checkpoint = await session.checkpoint();
  const waiter = await startWaiter();

  await expect(session.restore(checkpoint)).rejects.toMatchObject(LOCKED);
  expect((await session.info()).state).toBe("ended");

  waiter.kill("SIGKILL");
  await untilHostCanLock();
  await session.restore(checkpoint);
  expect(hostCanLock()).toBe(false);
});

async function startWaiter(): Promise<ChildProcess> {
  const file = path.join(sharedDir, "file");
  const waiter = spawn("/usr/bin/python3", ["-c", HOST_WAITER, file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const asked = Promise.withResolvers<void>();
  waiter.stdout.once("data", () => asked.resolve());
  await asked.promise;
  const isWaiting = () => readFileSync("/proc/locks", "utf8").includes(`WRITE ${waiter.pid} `);
  await eventually(
    "a waiting lock",
    async () => isWaiting(),
    (waits) => waits,
  );
  return waiter;
}

async function untilHostCanLock(): Promise<void> {
  const can = async () => hostCanLock();
  await eventually("the end of the lock", can, (free) => free);
}

function hostCanLock(): boolean {
  const file = path.join(sharedDir, "file");
  return spawnSync("/usr/bin/python3", ["-c", HOST_THIEF, file]).status === 0;
}

async function requireLocks(session: Session, held: string): Promise<void> {
  expect(await read(session, LOCKS)).toBe(held);
  expect(await read(session, "/usr/bin/python3 /root/thief.py")).toBe("");
}
