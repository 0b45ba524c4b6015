import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import { pollUntil } from "../../src/base/index.ts";
import { noteWhole, type TrackedDump, trackedSince } from "../../src/linux/criu/index.ts";
import { nativePath } from "../../src/linux/host/index.ts";
import { CriuTrees, PYTHON } from "./criu-trees.ts";
import { inPrivateNamespace, ROOT } from "./private-namespace.ts";

const TIMEOUT_MS = 60_000;
const SEEDS = 12;
const TEXT_BYTES_MAX = 64 * 1024 ** 2;
const [LOADED_NOT, LOADED] = [1, 0];

/**
 * Maps memory in all ways at random and makes the file "ready". A second word is how many mappings more, or `minor`: one has a flag
 * that nobody expects.
 */
const MAPPER = `import ctypes, mmap, os, random, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
chance = random.Random(int(sys.argv[1]))
PAGE = 4096
names = ["SEQUENTIAL", "RANDOM", "DONTFORK", "DOFORK", "DONTDUMP", "DODUMP", "MERGEABLE", "HUGEPAGE", "NOHUGEPAGE",
         "WIPEONFORK", "DONTNEED", "NORMAL"]
advices = {"WIPEONFORK": 18, **{name: getattr(mmap, "MADV_" + name) for name in names if hasattr(mmap, "MADV_" + name)}}
file = os.memfd_create("mapped")
os.ftruncate(file, 64 * PAGE)
os.write(file, b"f" * 64 * PAGE)
for _ in range(400):
    pages = chance.choice([1, 2, 16, 600])
    shared = chance.random() < 0.3
    flags = mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE
    if chance.random() < 0.3: flags |= 0x4000  # MAP_NORESERVE
    is_file = pages <= 16 and chance.random() < 0.4
    if not is_file: flags |= mmap.MAP_ANONYMOUS
    if not is_file and not shared and chance.random() < 0.1: flags |= 0x100  # MAP_GROWSDOWN
    at = libc.mmap(None, ctypes.c_size_t(pages * PAGE), chance.randrange(8), flags, file if is_file else -1,
                   ctypes.c_long(0))
    if at is None or at == ctypes.c_void_p(-1).value: continue
    part = lambda: (ctypes.c_void_p(at + PAGE * chance.randrange(pages)), ctypes.c_size_t(PAGE))
    for _ in range(chance.randrange(4)):
        what = chance.randrange(4)
        if what == 0: libc.mprotect(*part(), chance.randrange(8))
        elif what == 1: libc.mlock(*part())
        elif what == 2: libc.mlock2(*part(), 1)
        else: libc.madvise(*part(), advices[chance.choice(sorted(advices))])
map_one = lambda protection, flags, length=PAGE: libc.mmap(None, ctypes.c_size_t(length), protection, flags, -1, ctypes.c_long(0))
anonymous = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
more = sys.argv[2] if len(sys.argv) > 2 else ""
map_one(3, 0x08 | mmap.MAP_ANONYMOUS)  # MAP_DROPPABLE
libc.syscall(462, ctypes.c_void_p(map_one(1, anonymous)), ctypes.c_size_t(PAGE), ctypes.c_ulong(0))  # mseal
if more.isdigit():
    for at in range(int(more)): map_one(1 + at % 2 * 2, anonymous)
if more == "minor":
    uffd = libc.syscall(323, 0)
    at = map_one(3, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
    api = (ctypes.c_uint64 * 3)(0xAA, 1 << 10, 0)
    assert libc.ioctl(uffd, ctypes.c_ulong(0xC018AA3F), api) == 0, "UFFDIO_API"
    assert libc.ioctl(uffd, ctypes.c_ulong(0xC020AA00), (ctypes.c_uint64 * 4)(at, PAGE, 4, 0)) == 0, "UFFDIO_REGISTER"
open("ready", "w").close()
while True: time.sleep(1000)`;

/** The kernel counts how often its programs run, as long as this one does. */
const COUNT_RUNS = `import ctypes, sys
kind = (ctypes.c_uint32 * 32)(0)
assert ctypes.CDLL(None).syscall(321, 32, kind, 4) >= 0, "BPF_ENABLE_STATS"
print("counting", flush=True)
sys.stdin.read()`;

const programPath = nativePath(ROOT, "memory-tracker");
const assembleProgramPath = nativePath(ROOT, "image-assemble");

const title = "the flags of mappings are told without a look at their pages";
inPrivateNamespace(import.meta.filename, { title, network: false }, () => {
  let trees: CriuTrees;
  beforeAll(async () => {
    trees = await CriuTrees.open();
  });
  afterEach(() => trees.endAll());

  /** What is told of a program's mappings, and what smaps says of them. */
  async function compare(...words: string[]) {
    const cwd = mkdtempSync(path.join(os.tmpdir(), "waypoint-mappings-"));
    const program = spawn(PYTHON, ["-c", MAPPER, ...words], { cwd, stdio: "ignore" });
    const ended = once(program, "exit");
    try {
      const isReady = () => (readdirSync(cwd).includes("ready") ? true : undefined);
      await pollUntil("the mappings", { timeoutMs: TIMEOUT_MS }, isReady);
      const told = spawnSync(programPath, ["mappings", String(program.pid)], {
        ...{ encoding: "utf8" as const, maxBuffer: TEXT_BYTES_MAX },
      });
      const smaps = readFileSync(`/proc/${program.pid}/smaps`, "utf8").split(/(?<=\n)/);
      const flags = smaps.filter((line) => /^([0-9a-f]+-|VmFlags: )/.test(line));
      return { status: told.status, told: told.stdout, said: flags.join("") };
    } finally {
      program.kill("SIGKILL");
      await ended;
      rmSync(cwd, { recursive: true });
    }
  }

  test("they are those of smaps, for mappings of all kinds", async () => {
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const { status, told, said } = await compare(String(seed));

      expect(status).toBe(LOADED);
      expect(told).toBe(said);
      for (const name of ["sr", "rr", "dc", "dd", "wf", "lo", "lf", "gd", "nr", "sh", "sl", "dp"])
        expect(said).toMatch(new RegExp(`VmFlags: .*\\b${name}\\b`));
    }
  });

  test("they are told to the end, however many there are", async () => {
    // Some more than what the kernel's buffer holds, which are 1,365, in whatever number the program has itself.
    for (const more of [700, 850, 880, 900, 2_200, 5_000, 30_000]) {
      const { status, told, said } = await compare("1", String(more));

      expect(status).toBe(LOADED);
      expect(told).toBe(said);
      expect(said.match(/VmFlags/g)?.length).toBeGreaterThan(more);
    }
  });

  test("a flag that was not compared is told by nobody", async () => {
    expect(await compare("1", "minor")).toMatchObject({ status: LOADED_NOT, told: "" });
  });

  const asked = "asks for them, and they are those of smaps";
  // With six processes and more it is a thread beside CRIU that asks.
  test.each([0, 6])(
    `a dump of processes whose writes are followed ${asked}; %i more`,
    async (more) => {
      const others = "sleep 1000 & ".repeat(more);
      const script = `${PYTHON} -c "$0" 1 & ${others} while :; do sleep 1000; done`;
      const tree = await trees.start("/bin/sh", "-c", script, MAPPER);
      const socketPath = path.join(trees.directory, "work", `${tree.name}.sock`);
      const dump = async (id: string) => {
        const since = await trackedSince({ programPath, socketPath, pid: tree.pid });
        const imagesDir = `${trees.directory}/images/${since}`;
        const tracked: TrackedDump = {
          ...{ socketPath, checkpointId: id, bytesMin: 0, assembleProgramPath },
          reference: since === null ? null : { imagesDir, makeTarget: null },
          compares: true,
        };
        await trees.dump(tree, id, undefined, undefined, tracked);
        expect(await noteWhole(socketPath, id)).toBe(true);
      };
      await dump(`first-${more}`);
      const runs = await pollUntil("the program", { timeoutMs: TIMEOUT_MS }, () =>
        findRuns(socketPath),
      );
      const counting = spawn(PYTHON, ["-c", COUNT_RUNS], { stdio: ["pipe", "pipe", "inherit"] });
      await once(counting.stdout, "data");

      await dump(`second-${more}`);

      const counted = runs();
      counting.kill();
      expect(counted).toBeGreaterThan(300);
      await trees.restore(`second-${more}`);
    },
  );
});

/** Finds the program that a tracker has loaded; returns what reads how often it ran since that is counted. */
function findRuns(socketPath: string): (() => number) | undefined {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`serve\0${socketPath}\0`))
        continue;
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        if (!readlinkSync(`/proc/${pid}/fd/${fd}`).includes("bpf-prog")) continue;
        const info = `/proc/${pid}/fdinfo/${fd}`;
        return () => Number(/^run_cnt:\s*(\d+)/m.exec(readFileSync(info, "utf8"))?.[1]);
      }
    } catch {
      // It has ended.
    }
  }
  return undefined;
}
