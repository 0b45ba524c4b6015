import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { afterEach, beforeAll, expect, test } from "vitest";
import { killProcess, pollUntil } from "../../src/base/index.ts";
import {
  type DumpResult,
  findMissingTracking,
  findRunningCriu,
  noteWhole,
  type TrackedDump,
  takenPagesBytes,
  trackedSince,
} from "../../src/linux/criu/index.ts";
import { nativePath } from "../../src/linux/host/index.ts";
import { CriuTrees, PYTHON, sh, stateOf, type Tree } from "./criu-trees.ts";
import { inPrivateNamespace, ROOT } from "./private-namespace.ts";

const MEBIBYTE = 1024 ** 2;
const HELD_MIB = 64;
/** Writes a page in each MiB whenever `wanted` has another number, which it then puts into `done`. */
const WRITER = [
  PYTHON,
  "-c",
  `import os, time
held = bytearray(${HELD_MIB} << 20)
for at in range(0, len(held), 4096): held[at] = 1
written = 0
open("ready", "w").close()
while True:
    wanted = int(open("wanted").read() or 0) if os.path.exists("wanted") else 0
    if wanted != written:
        written = wanted
        for at in range(0, len(held), 1 << 20): held[at] = written % 256
        open("done", "w").write(str(written))
    time.sleep(0.002)`,
];

/** Returns the processes that serve a socket. */
function trackersAt(socketPath: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`serve\0${socketPath}\0`);
    } catch {
      return false; // It has ended.
    }
  });
}

const FILE_MIB = 8;
/**
 * Has a file of its own mapped for itself alone, and all of it written, as a loader does. With 2 it gives the second MiB back; with
 * 3 it cuts off the second half of the file; with more it writes a sum of the first two MiB into "sum".
 */
const LOADER = [
  PYTHON,
  "-c",
  `import ctypes, mmap, os, time, zlib
file = os.open("mapped", os.O_RDWR | os.O_CREAT)
os.write(file, b"f" * (${FILE_MIB} << 20))
held = mmap.mmap(file, ${FILE_MIB} << 20, flags=mmap.MAP_PRIVATE)
# Below it, as that of a program is.
text = mmap.mmap(file, len(held), flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
for at in range(0, len(held), 4096): held[at] = at // 4096 % 251
address = ctypes.addressof(ctypes.c_char.from_buffer(held))
assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(len(held)), 1) == 0
open("ready", "w").close()
written = 0
while True:
    wanted = int(open("wanted").read() or 0) if os.path.exists("wanted") else 0
    if wanted != written:
        written = wanted
        if wanted == 2: held.madvise(mmap.MADV_DONTNEED, 1 << 20, 1 << 20)
        if wanted == 3: os.ftruncate(file, ${FILE_MIB / 2} << 20)
        if wanted > 3: open("sum", "w").write(str(zlib.crc32(held[:2 << 20])))
        open("done", "w").write(str(written))
    time.sleep(0.002)`,
];

/** The sum of the first two MiB of it, of which the second is the file's. */
function sumOfGivenBack(): string {
  const bytes = Buffer.alloc(2 * MEBIBYTE, "f");
  for (let at = 0; at < MEBIBYTE; at += 4096) bytes[at] = (at / 4096) % 251;
  return String(crc32(bytes));
}

const programPath = nativePath(ROOT, "memory-tracker");
const assembleProgramPath = nativePath(ROOT, "image-assemble");

const title = "CRIU copies what was written since the last dump";
inPrivateNamespace(import.meta.filename, { title, network: false }, () => {
  let trees: CriuTrees;
  beforeAll(async () => {
    trees = await CriuTrees.open();
  });
  afterEach(() => trees.endAll());

  const workDirOf = (checkpoint: string) => [trees.directory, "work", checkpoint].join("/");
  const socketOf = (tree: Tree) => `${trees.directory}/work/${tree.name}.sock`;
  const trackerOf = (tree: Tree) => ({ programPath, socketPath: socketOf(tree), pid: tree.pid });

  const write = async (tree: Tree, number: number) =>
    expect(await writesOn(tree, number)).toBe(true);

  /** Returns whether it has written; `false` once it has ended. */
  async function writesOn(tree: Tree, number: number): Promise<boolean> {
    const done = `${tree.ownDir}/done`;
    writeFileSync(`${tree.ownDir}/wanted`, String(number));
    return await pollUntil("the write", { timeoutMs: 60_000 }, () => {
      if (existsSync(done) && readFileSync(done, "utf8") === String(number)) return true;
      return !existsSync(`/proc/${tree.pid}`) || stateOf(tree.pid) === "Z" ? false : undefined;
    });
  }

  /** Dumps since whatever the tracker knows, and compares every page with a second copy. */
  async function dump(tree: Tree, id: string): Promise<DumpResult> {
    const since = await trackedSince(trackerOf(tree));
    const imagesDir = `${trees.directory}/images/${since}`;
    const tracked: TrackedDump = {
      ...{ socketPath: socketOf(tree), checkpointId: id, bytesMin: 0, assembleProgramPath },
      reference: since === null ? null : { imagesDir, makeTarget: null },
      compares: true,
    };
    const result = await trees.dump(tree, id, undefined, undefined, tracked);
    expect(await noteWhole(socketOf(tree), id)).toBe(true);
    return result;
  }

  test("the kernel of this machine has what it takes", async () => {
    expect(await findMissingTracking(programPath)).toBe(null);
  });

  test("the second dump copies what was written, and its images are all memory", async () => {
    const tree = await trees.start(...WRITER);
    const first = await dump(tree, "a1");
    await write(tree, 2);
    const second = await dump(tree, "a2");

    expect(first.pauseBytes).toBeGreaterThan(HELD_MIB * MEBIBYTE);
    expect(second.pauseBytes).toBeLessThan((HELD_MIB / 8) * MEBIBYTE);
    expect(second.memoryBytes).toBeGreaterThan(HELD_MIB * MEBIBYTE);
    expect(takenPagesBytes(workDirOf("a2"))).toBeGreaterThan(HELD_MIB * 4096);
    expect(takenPagesBytes(workDirOf("a2"))).toBeLessThan(second.pauseBytes);
  });

  test("what nobody has a file or room for is copied by CRIU", async () => {
    const tree = await trees.start(...WRITER);
    await dump(tree, "t1");
    await write(tree, 2);
    mkdirSync(`${workDirOf("t2")}/taken-pages`, { recursive: true });
    const second = await dump(tree, "t2");
    const full =
      "mkdir f t3; mount -t tmpfs -osize=16m f f; touch f/f t3/taken-pages; mount -B f/f t3/taken-pages";
    execFileSync("sh", ["-ec", full], { cwd: `${trees.directory}/work` });
    const third = await dump(tree, "t3");

    expect(takenPagesBytes(workDirOf("t3"))).toBe(0);
    for (const each of [second, third]) expect(each.pauseBytes).toBeLessThan(8 * MEBIBYTE);
  });

  test("the first dump copies what was written since memory was copied before it", async () => {
    const tree = await trees.start(...WRITER);
    await trackedSince(trackerOf(tree));
    const ahead = { socketPath: socketOf(tree), bytesMin: 0, assembleProgramPath };
    const copy = await trees.copyAhead(tree, { ...ahead, checkpointId: "h0" });
    await write(tree, 2);

    const first = await dump(tree, "h1");
    await write(tree, 3);
    const second = await dump(tree, "h2");
    const restored = await trees.restore("h2");
    await write(restored, 4);

    expect(copy.copiedBytes).toBeGreaterThan(HELD_MIB * MEBIBYTE);
    expect(first.pauseBytes).toBeLessThan((HELD_MIB / 8) * MEBIBYTE);
    expect(first.memoryBytes).toBeGreaterThan(HELD_MIB * MEBIBYTE);
    expect(second.pauseBytes).toBeLessThan((HELD_MIB / 8) * MEBIBYTE);
  });

  test("a copy before the first dump that came to no end costs a full copy", async () => {
    const tree = await trees.start(...WRITER);
    await trackedSince(trackerOf(tree));
    const ahead = { socketPath: socketOf(tree), bytesMin: 0, assembleProgramPath };
    const copying = trees.copyAhead(tree, {
      ...{ ...ahead, assembleProgramPath: "/bin/false", checkpointId: "i0" },
    });
    await expect(copying).rejects.toThrow();
    await write(tree, 2);

    const first = await dump(tree, "i1");

    expect(first.pauseBytes).toBeGreaterThan(HELD_MIB * MEBIBYTE);
  });

  test("a process that was restored from them has its memory, and is followed anew", async () => {
    const tree = await trees.start(...WRITER);
    await dump(tree, "b1");
    await write(tree, 2);
    await dump(tree, "b2");

    const restored = await trees.restore("b2");
    await write(restored, 3);
    const again = await dump(restored, "b3");

    expect(again.pauseBytes).toBeGreaterThan(HELD_MIB * MEBIBYTE);
  });

  test("of a mapping of a file that was written once nothing is copied again, and what is given back is the file's", async () => {
    const tree = await trees.start(...LOADER);
    const first = await dump(tree, "m1");
    const second = await dump(tree, "m2");
    await write(tree, 2);
    await dump(tree, "m3");
    const restored = await trees.restore("m3");
    await write(restored, 4);

    expect(first.pauseBytes).toBeGreaterThan(FILE_MIB * MEBIBYTE);
    expect(second.pauseBytes).toBeLessThan((FILE_MIB / 4) * MEBIBYTE);
    expect(readFileSync(`${restored.ownDir}/sum`, "utf8")).toBe(sumOfGivenBack());
  });

  test("what a file has lost that is mapped is no reason for a dump to fail, whether or not writes are followed", async () => {
    const tree = await trees.start(...LOADER);
    await dump(tree, "n1");
    await write(tree, 2);
    await write(tree, 3);

    await dump(tree, "n2");
    await trees.dump(tree, "n3");
    const restored = await trees.restore("n3");
    await write(restored, 5);

    expect(readFileSync(`${restored.ownDir}/sum`, "utf8")).toBe(sumOfGivenBack());
  });

  test("what was written before a dump that fails after the protection was renewed is not forgotten", async () => {
    const tree = await trees.start(...WRITER);
    // Where no snapshot can be made the dump fails, in its last stage.
    const other = `${trees.directory}/store/other`;
    sh(`mkdir ${other}; mount -t tmpfs tmpfs ${other}`);
    await dump(tree, "c1");
    await write(tree, 2);

    await expect(dump(tree, "other/c2")).rejects.toThrow();
    sh(`umount ${other}`);
    const next = await dump(tree, "c3");

    expect(next.pauseBytes).toBeGreaterThan(HELD_MIB * MEBIBYTE);
  });

  test("nothing is forgotten when the daemon ends before it says that the images are whole", async () => {
    const tree = await trees.start(...WRITER);
    await dump(tree, "d1");
    await write(tree, 2);
    const tracked: TrackedDump = {
      ...{ socketPath: socketOf(tree), checkpointId: "d2", bytesMin: 0, assembleProgramPath },
      reference: { imagesDir: `${trees.directory}/images/d1`, makeTarget: null },
    };
    await trees.dump(tree, "d2", undefined, undefined, tracked);

    const next = await dump(tree, "d3");

    expect(next.pauseBytes).toBeGreaterThan(HELD_MIB * MEBIBYTE);
  });

  test("a tracker that was killed costs a full copy", async () => {
    const tree = await trees.start(...WRITER);
    await dump(tree, "e1");
    await write(tree, 2);
    for (const pid of trackersAt(socketOf(tree))) killProcess(pid);

    const next = await dump(tree, "e2");
    await write(tree, 3);
    const after = await dump(tree, "e3");

    expect(next.pauseBytes).toBeGreaterThan(HELD_MIB * MEBIBYTE);
    expect(after.pauseBytes).toBeLessThan((HELD_MIB / 8) * MEBIBYTE);
  });

  test("a CRIU that was killed at any moment leaves the next dump right", async () => {
    let tree = await trees.start(...WRITER);
    await dump(tree, "f0");
    for (let round = 1; round <= 6; round += 1) {
      await write(tree, round + 1);
      const imagesDir = `${trees.directory}/images/f${round}`;
      const dumping = dump(tree, `f${round}`).catch(() => null);
      await new Promise((resolve) => setTimeout(resolve, 25 * round));
      for (const { pid } of findRunningCriu((argument) => argument === imagesDir)) killProcess(pid);
      await dumping;
      // In the middle of a call that CRIU has made in a program, that does not live on.
      if (!(await writesOn(tree, round + 100))) tree = await trees.start(...WRITER);
      await dump(tree, `g${round}`);
      rmSync(imagesDir, { recursive: true, force: true });
    }
  });
});
