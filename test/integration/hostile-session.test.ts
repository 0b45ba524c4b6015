import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { cgroupMounts } from "../../src/base/index.ts";
import type { Checkpoint, Session } from "../../src/index.ts";
import { peakMemoryBytes } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const MEBIBYTE = 1024 ** 2;
/** What the daemon may ever have had: some 400 MiB in a comparison of 30,000 files, as its collector likes. */
const DAEMON_BYTES_MAX = 700 * MEBIBYTE;
/** `WAYPOINT_HOSTILE_FILES=1000000` for a longer one. */
const FILES = Number(process.env["WAYPOINT_HOSTILE_FILES"] ?? 30_000);
/** For the daemon and what it starts for itself. */
const GROUP_BYTES = 1536 * MEBIBYTE;
/** Stories of what is below have time to go beyond their budget twice. */
const STORY_TIMEOUT_MS = 250_000;

/** Puts the daemon of a test into a control group of little memory. */
async function confine(own: TestWaypoint): Promise<Disposable> {
  const mounts = cgroupMounts(readFileSync("/proc/self/mountinfo", "utf8"), "memory");
  const memoryDir = mounts.directories.memory;
  if (memoryDir === undefined) throw new Error("this machine has no control groups for memory");
  const group = path.join(memoryDir, `waypoint-test-${process.pid}`);
  mkdirSync(group);
  const file = mounts.version === 1 ? "memory.limit_in_bytes" : "memory.max";
  writeFileSync(path.join(group, file), String(GROUP_BYTES));
  writeFileSync(path.join(group, "cgroup.procs"), String(await own.daemonPid()));
  return { [Symbol.dispose]: () => release(group, memoryDir) };
}

/** Moves what still runs in a group out of it, and removes it. */
function release(group: string, memoryDir: string): void {
  const pids = readFileSync(path.join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean);
  for (const pid of pids) writeFileSync(path.join(memoryDir, "cgroup.procs"), pid);
  rmdirSync(group);
}

/** Waits until a checkpoint's story is there, as `show` has it, while the daemon answers others. */
async function storyOf(own: TestWaypoint, checkpoint: Checkpoint) {
  const isBuilt = async () => {
    await own.waypoint.sessions();
    const { story } = await checkpoint.show();
    return story;
  };
  const hasStory = (story: Awaited<ReturnType<typeof isBuilt>>) => story !== null;
  return await eventually("the story", isBuilt, hasStory, STORY_TIMEOUT_MS);
}

async function nobodysSession(own: TestWaypoint): Promise<Session> {
  const session = await own.waypoint.new({ user: "nobody", cwd: "/" });
  await session.exec("export HOME=/tmp/nobody; mkdir -p $HOME; cd $HOME");
  return session;
}

test("a terminal of 65,535 lines and columns is no screen of 23 GiB", async () => {
  await using own = await openTestWaypoint();
  const daemonPid = await own.daemonPid();
  using _group = await confine(own);
  const session = await nobodysSession(own);
  await session.exec("stty rows 65535 cols 65535 </dev/tty", { tty: true });
  await session.exec("echo x", { tty: true });

  const checkpoint = await session.checkpoint();
  const story = await storyOf(own, checkpoint);

  expect(story?.terminal).toMatchObject({ columns: 2000, rows: 1000 });
  expect(await own.daemonPid()).toBe(daemonPid);
  expect(peakMemoryBytes(daemonPid)).toBeLessThan(DAEMON_BYTES_MAX);
});

/** Each is a line of shell that a program without rights can run; what it makes costs it little. */
const TRAPS: Record<string, string> = {
  "files of 20 GiB that are nothing but a hole, where packages and repositories are described": `
    mkdir -p app/.git/refs/heads app/.git/objects app/node_modules/left-pad venv/lib/python3/site-packages/x.dist-info
    for file in index packed-refs HEAD config refs/heads/main; do truncate -s 20G app/.git/$file; done
    truncate -s 20G app/node_modules/left-pad/package.json app/package.json app/package-lock.json
    truncate -s 20G venv/pyvenv.cfg venv/lib/python3/site-packages/x.dist-info/METADATA`,
  "an index and a pack whose numbers promise more than there is": `
    mkdir -p app/.git/objects/pack app/.git/refs; echo 'ref: refs/heads/main' > app/.git/HEAD
    printf 'DIRC\\0\\0\\0\\2\\377\\377\\377\\377' > app/.git/index
    printf '\\377tOc\\0\\0\\0\\2' > app/.git/objects/pack/pack-1.idx
    head -c 1024 /dev/zero | tr '\\0' '\\377' >> app/.git/objects/pack/pack-1.idx
    printf 'PACK\\0\\0\\0\\2\\377\\377\\377\\377' > app/.git/objects/pack/pack-1.pack`,
  "very many files of packages that are just as large as they may be": `
    for n in $(seq 1500); do mkdir -p app/node_modules/p$n; truncate -s 1M app/node_modules/p$n/package.json; done
    for n in $(seq 30); do mkdir -p lock$n; truncate -s 8M lock$n/package-lock.json lock$n/Cargo.lock; done
    mkdir -p root/var/lib/dpkg; yes a: | head -c 33554432 > root/var/lib/dpkg/status`,
  "an index of version 4 with paths that add up, and as many packs as are opened, with huge indexes": `
    mkdir -p app/.git/objects/pack app/.git/refs; printf '%040d' 0 | tr 0 1 > app/.git/HEAD
    python3 -c 'import struct
body = bytes(62) + b"\\0" + b"a/" * 2047 + b"\\0" + (bytes(62) + b"\\1b\\0") * 2047
open("app/.git/index", "wb").write(b"DIRC" + struct.pack(">II", 4, 2048) + body + bytes(20))
for n in range(128):
  pack = "app/.git/objects/pack/pack-%d" % n
  open(pack + ".pack", "w").close()
  with open(pack + ".idx", "wb") as index:
    index.write(b"\\377tOc\\0\\0\\0\\2" + bytes(17 * 4) + struct.pack(">I", 40000000) * 239)
    index.truncate(1200000000)'`,
  "very many files with long names": `
    python3 -c 'for n in range(${FILES}): open("%0200d" % n, "w").close()'`,
  "a text of one line without an end": `
    head -c 64M /dev/zero | tr '\\0' 'a' > endless; mkdir -p deep && cd deep && for n in $(seq 200); do mkdir d && cd d; done`,
  "programs with arguments and variables of two megabytes": `
    python3 -c 'import subprocess,os
for n in range(8): subprocess.Popen(["sleep","1000"] , env={"V%d" % i: "x"*100000 for i in range(15)})
for n in range(8): subprocess.Popen(["sh","-c","sleep 1000; :"]+["y"*100000]*12)'`,
  "a shell with a hundred thousand variables and functions": `
    for n in $(seq 50000); do export "LOTS_$n=$n"; eval "f_$n() { :; }"; done 2>/dev/null; true`,
};

test("no session takes the daemon's time or memory with what it leaves to be read", async () => {
  await using own = await openTestWaypoint();
  const daemonPid = await own.daemonPid();
  using _group = await confine(own);
  const told: Record<string, string> = {};

  for (const [what, line] of Object.entries(TRAPS)) {
    const session = await nobodysSession(own);
    const before = await session.checkpoint();
    await session.exec(line);
    const checkpoint = await session.checkpoint();
    const story = await storyOf(own, checkpoint);
    const { files } = await own.waypoint.diff(before, checkpoint, { patch: true });
    const plan = await session.planRestore(before);
    told[what] = [story, files, plan].every((each) => each !== null) ? "told" : "not told";
    await session.remove({ force: true });
  }

  expect(Object.values(told)).toEqual(Object.keys(TRAPS).map(() => "told"));
  expect(await own.daemonPid()).toBe(daemonPid);
  expect(peakMemoryBytes(daemonPid)).toBeLessThan(DAEMON_BYTES_MAX);
}, 600_000);
