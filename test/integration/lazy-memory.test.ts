import { existsSync, readFileSync } from "node:fs";
import { afterEach, beforeAll, expect, test } from "vitest";
import { killProcess, pollUntil } from "../../src/base/index.ts";
import { awaitPagesServer, endPagesServer, fillPages } from "../../src/linux/criu/index.ts";
import { pagesServersOf } from "../support/pages-servers.ts";
import { CriuTrees, PYTHON, sh, stateOf, type Tree, treeProcesses } from "./criu-trees.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

/**
 * A program that has memory of each kind, and checks all of it when it finds a file `check`: what
 * it wrote before the dump must be there, what it never wrote must be zero.
 */
const PROGRAM = `import ctypes, hashlib, mmap, os, threading, time
libc = ctypes.CDLL(None, use_errno=True)
MIB = 1 << 20
BLOCK = hashlib.sha256(b"seed").digest() * (MIB // 32)

def page_of(number):
    return number.to_bytes(8, "little") * 512

def anonymous(mebibytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS):
    area = mmap.mmap(-1, mebibytes * MIB, flags=flags)
    for number in range(0, mebibytes * 256):
        area[number * 4096:(number + 1) * 4096] = page_of(number)
    return area

def is_right(area, mebibytes, first=0):
    return all(area[n * 4096:(n + 1) * 4096] == page_of(n + first) for n in range(mebibytes * 256))

def address(area):
    return ctypes.addressof(ctypes.c_char.from_buffer(area))

# Filled first, since it lies highest: what follows is still to come when the program goes on.
private = anonymous(256)
shared = anonymous(8, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
locked = anonymous(4)
assert libc.mlock(ctypes.c_void_p(address(locked)), 4 * MIB) == 0
untouched = mmap.mmap(-1, 16 * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
moved = anonymous(16)
removed = anonymous(16)
split = anonymous(16)
inherited = anonymous(24)
threads_areas = [anonymous(8) for _ in range(4)]
bitten = bytearray(BLOCK * 8)

def check_child():
    pid = os.fork()
    if pid == 0:
        os._exit(0 if is_right(inherited, 24) else 1)
    return os.waitpid(pid, 0)[1] == 0

kept_child = os.fork()
if kept_child == 0:
    while not os.path.exists("check"): time.sleep(0.005)
    found = "right" if is_right(inherited, 24) else "wrong"
    open("child", "w").write(found)
    while True: time.sleep(1)

open("ready", "w").close()
while not os.path.exists("check"): time.sleep(0.005)
open("answer", "w").close()
results = {}
def check_thread(number):
    results["thread %d" % number] = is_right(threads_areas[number], 8)
threads = [threading.Thread(target=check_thread, args=(n,)) for n in range(4)]
base = address(split)
for step in range(0, 16, 2):
    assert libc.mprotect(ctypes.c_void_p(base + step * MIB + 4096 * 3), 4096 * 5, 1) == 0
removed.madvise(mmap.MADV_DONTNEED, 2 * MIB, 7 * MIB)
libc.mremap.restype = ctypes.c_void_p
libc.mmap.restype = ctypes.c_void_p
target = libc.mmap(None, ctypes.c_size_t(32 * MIB), 3, 0x22, -1, 0)
where = libc.mremap(ctypes.c_void_p(address(moved) + MIB), ctypes.c_size_t(8 * MIB),
    ctypes.c_size_t(8 * MIB), 3, ctypes.c_void_p(target + 4 * MIB))
assert where == target + 4 * MIB
for thread in threads: thread.start()
results["forked child"] = check_child()
results["removed"] = removed[2 * MIB:9 * MIB] == bytes(7 * MIB) and all(
    removed[n * 4096:(n + 1) * 4096] == page_of(n) for n in [*range(512), *range(2304, 4096)])
results["moved"] = all(
    ctypes.string_at(where + n * 4096, 4096) == page_of(n + 256) for n in range(2048))
results["not moved"] = moved[0:MIB] == b"".join(page_of(n) for n in range(256))
results["private"] = is_right(private, 256)
results["shared"] = is_right(shared, 8)
results["locked"] = is_right(locked, 4)
results["untouched"] = untouched[0:16 * MIB] == bytes(16 * MIB)
results["split"] = is_right(split, 16)
results["bytearray"] = bytes(bitten) == BLOCK * 8
for thread in threads: thread.join()
wrong = [name for name, right in results.items() if not right]
open("result.new", "w").write("wrong: " + ", ".join(wrong) if wrong else "right %d" % len(results))
os.rename("result.new", "result")
while True: time.sleep(1)`;

const title = "a lazy restore fills every kind of memory";
inPrivateNamespace(import.meta.filename, { title, network: false }, () => {
  let trees: CriuTrees;
  beforeAll(async () => {
    trees = await CriuTrees.open();
    const tree = await trees.start(PYTHON, "-c", PROGRAM);
    await trees.dump(tree, "c1");
    await trees.endAll();
    expect(servers()).toEqual([]);
  });
  afterEach(() => trees.endAll());

  const workDirOf = (tree: Tree) => `${trees.directory}/work/${tree.name}`;
  /** The connection breaks when all is there, or with the server. */
  const fillAll = (tree: Tree) => fillPages(workDirOf(tree), null, 60_000).catch(() => {});
  const servers = () => pagesServersOf(trees.directory);
  const untilGone = (tree: Tree) =>
    pollUntil("its end", { timeoutMs: 30_000 }, () =>
      existsSync(`/proc/${tree.pid}`) && stateOf(tree.pid) !== "Z" ? undefined : "ended",
    );
  const resultOf = (tree: Tree, name: string) =>
    pollUntil(`${name} of ${tree.name}`, { timeoutMs: 30_000, intervalMs: 20 }, () =>
      existsSync(`${tree.ownDir}/${name}`)
        ? readFileSync(`${tree.ownDir}/${name}`, "utf8") || undefined
        : undefined,
    );

  test("every page is right, whatever the program does with it meanwhile", async () => {
    for (let round = 0; round < 5; round += 1) {
      const tree = await trees.restore("c1", { isLazy: true, change: "touch check" });

      expect(await resultOf(tree, "result")).toBe("right 14");
      expect(await resultOf(tree, "child")).toBe("right");
      await fillAll(tree);
      expect(await awaitPagesServer(workDirOf(tree))).toEqual({ kind: "whole", reason: "" });
      await trees.endAll();
    }
  });

  test.each([0, 10, 40, 80])(
    "a server ended after %i ms: nothing ever finds a wrong page",
    async (ms) => {
      const tree = await trees.restore("c1", { isLazy: true, change: "touch check" });
      const filling = fillAll(tree);
      const server = servers()[0]?.server ?? null;
      await new Promise((resolve) => setTimeout(resolve, ms));
      if (server !== null) killProcess(server);
      await filling;

      const { kind } = await awaitPagesServer(workDirOf(tree));

      // When the server has ended before it was done, so have all processes; else all is right.
      if (kind === "lost") expect(treeProcesses()).toEqual([]);
      else expect(await resultOf(tree, "result")).toBe("right 14");
      expect(["right 14", undefined]).toContain(readIfThere(`${tree.ownDir}/result`));
      expect(["right", undefined]).toContain(readIfThere(`${tree.ownDir}/child`));
      expect(ms > 0 || kind === "lost").toBe(true);
    },
  );

  test("a program whose server and keeper are both ended finds no memory of its own", async () => {
    const tree = await trees.restore("c1", { isLazy: true, change: "touch check" });
    const [{ keeper, server } = { keeper: 0, server: null }] = servers();
    for (const pid of [keeper, server]) if (pid !== null) killProcess(pid);

    expect((await awaitPagesServer(workDirOf(tree))).kind).toBe("lost");

    const found = ["result", "child"].map((name) => resultOf(tree, name).catch(() => "ended"));
    // Without its memory it may do anything, also wait for ever.
    const gone = untilGone(tree).catch(() => "ended or hangs");
    expect(await Promise.race([...found, gone])).toMatch(/wrong|ended/);
  });

  test.each([
    { how: "a file is missing", options: { change: "rm ready" }, code: "CRIU_RESTORE_FAILED" },
    { how: "its time is up", options: { timeoutMs: 6 }, code: "DEADLINE_EXCEEDED" },
  ])("a restore that fails since $how leaves no process and no server", async (sample) => {
    const kept = await trees.start(
      ...[
        PYTHON,
        "-c",
        "import time; f = open('ready', 'w'); m = bytearray(1 << 27); time.sleep(1e6)",
      ],
    );
    await trees.dump(kept, `c-${sample.code}`);
    await trees.endAll();

    const failure = await trees
      .restore(`c-${sample.code}`, { isLazy: true, ...sample.options })
      .catch((error: unknown) => error);

    expect(failure).toMatchObject({ code: sample.code });
    expect(treeProcesses()).toEqual([]);
    // A server to which CRIU never came waits for it, until whoever asked for it gives it up.
    for (const { instance } of servers()) {
      await endPagesServer(`${trees.directory}/work/${instance}`);
    }
    expect(servers()).toEqual([]);
  });

  test("a damaged image of memory is refused before anything is restored", async () => {
    sh(`cp -r ${trees.directory}/images/c1 ${trees.directory}/images/c-cut
      btrfs -q subvolume snapshot ${trees.directory}/store/c1 ${trees.directory}/store/c-cut
      truncate -s 60 ${trees.directory}/images/c-cut/pagemap-1.img`);

    const failure = await trees.restore("c-cut", { isLazy: true }).catch((error: unknown) => error);

    expect(failure).toMatchObject({ code: "TOOL_FAILED" });
    expect(String((failure as { hint: unknown }).hint)).toContain("read the images of memory");
    expect(servers()).toEqual([]);
  });
});

function readIfThere(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") || undefined : undefined;
}
