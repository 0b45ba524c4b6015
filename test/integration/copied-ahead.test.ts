import { existsSync, readdirSync } from "node:fs";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { killProcess } from "../../src/base/index.ts";
import type { Session } from "../../src/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const MEBIBYTE = 1024 ** 2;
const HELD_MIB = 192;
/** Holds memory, writes a page of it all the time, and tells a sum of the rest in a file when asked. */
const HOLDER = `import os, time, zlib
held = bytearray(os.urandom(1 << 20)) * ${HELD_MIB}
for at in range(0, len(held), 4096): held[at] = at // 4096 % 251
# Islands of pages: more, and other, than fit into one of the kernel's lists.
import mmap
islands = mmap.mmap(-1, 1500 * 8192, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, len(islands), 8192): islands[at] = 1
before = zlib.crc32(memoryview(held)[4096:])
open("/root/ready", "w").close()
while True:
    held[7] = (held[7] + 1) % 256
    if os.path.exists("/root/ask"):
        os.remove("/root/ask")
        right = zlib.crc32(memoryview(held)[4096:]) == before
        open("/root/answer", "w").write("right" if right else "wrong")
    time.sleep(0.002)
`;

/**
 * Shares memory with a child while it is copied; then another child gives its own copy back to the kernel, and
 * the kernel takes what it may (MADV_PAGEOUT).
 */
const SHARER = `import mmap, os, signal, time
PAGES = 8192
held = mmap.mmap(-1, PAGES * 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for page in range(PAGES): held[page * 4096] = page % 251 + 1
def start(act):
    child = os.fork()
    if child == 0:
        act()
        os._exit(0)
    return child
def end(child): os.waitpid(child, 0)
sharing = start(signal.pause)
open("/root/ready", "w").close()
while not os.path.exists("/root/ask"): time.sleep(0.01)
end(start(lambda: held.madvise(mmap.MADV_FREE)))
os.kill(sharing, signal.SIGKILL)
end(sharing)
held.madvise(21)
lost = sum(held[page * 4096] != page % 251 + 1 for page in range(PAGES))
open("/root/answer", "w").write("right" if lost == 0 else f"{lost} pages lost")
time.sleep(10000)
`;

let own: TestWaypoint;

beforeAll(async () => {
  // The images are compared with a second copy of all memory, and nothing is too small to be copied before.
  process.env["WAYPOINT_TRACK_MEMORY"] = String(8 * MEBIBYTE);
  process.env["WAYPOINT_COMPARE_MEMORY"] = "on";
  process.env["WAYPOINT_TRACK_AHEAD"] = "on";
  own = await openTestWaypoint();
});

afterAll(async () => {
  delete process.env["WAYPOINT_TRACK_MEMORY"];
  delete process.env["WAYPOINT_COMPARE_MEMORY"];
  delete process.env["WAYPOINT_TRACK_AHEAD"];
  await own?.[Symbol.asyncDispose]();
});

async function startHolder(name: string, program = HOLDER, at = own): Promise<Session> {
  const session = await at.waypoint.new({ name });
  await session.exec(`cat > /root/holder.py <<'END'\n${program}\nEND`);
  await session.exec(
    "(setsid python3 /root/holder.py </dev/null >/dev/null 2>&1 &); until test -e /root/ready; do sleep 0.05; done",
  );
  return session;
}

async function answer(session: Session): Promise<string> {
  await session.exec("rm -f /root/answer; touch /root/ask");
  const { stdout } = await session.exec(
    "until test -s /root/answer; do sleep 0.05; done; cat /root/answer",
  );
  return stdout.trim();
}

/** Returns the names of copies that were made before a pause, as the daemon sees them. */
async function copies(): Promise<string[]> {
  const images = `/proc/${await own.daemonPid()}/root${own.stateDir}/images`;
  return existsSync(images) ? readdirSync(images).filter((name) => name.endsWith("-ahead")) : [];
}

test("the first checkpoint, and the first of a fork, copy in the pause what is written meanwhile", async () => {
  const session = await startHolder("first");

  const first = await session.checkpoint();
  const second = await session.checkpoint();
  const [fork] = await own.waypoint.fork(first.id);
  const ofFork = await (fork as Session).checkpoint();

  for (const { info } of [first, second, ofFork]) {
    expect(info.memoryBytes).toBeGreaterThan(HELD_MIB * MEBIBYTE);
    expect(info.pauseBytes).toBeLessThan((HELD_MIB / 4) * MEBIBYTE);
  }
  expect(await answer(session)).toBe("right");
  expect(await answer(fork as Session)).toBe("right");
  await session.restore(second.id);
  expect(await answer(session)).toBe("right");
  expect(await copies()).toEqual([]);
});

test("a daemon that is killed while memory is copied leaves nothing of it, and the next checkpoint is whole", async () => {
  const session = await startHolder("killed");
  const daemonPid = await own.daemonPid();
  const checkpoint = session.checkpoint().catch(() => null);
  await eventually("the copy", copies, (names) => names.length > 0);

  killProcess(daemonPid);
  await checkpoint;
  const next = await session.checkpoint();

  expect(next.info.memoryBytes).toBeGreaterThan(HELD_MIB * MEBIBYTE);
  expect(await copies()).toEqual([]);
  await session.restore(next.id);
  expect(await answer(session)).toBe("right");
});

test("memory that is shared with a child stays what it is while it is copied", async () => {
  const session = await startHolder("sharing", SHARER);

  const { info } = await session.checkpoint();

  expect(info.pauseBytes).toBeLessThan(16 * MEBIBYTE);
  expect(await answer(session)).toBe("right");
});

test("where memory has no room for images, the pause copies what was written all the same", async () => {
  await using small = await openTestWaypoint({ imagesBytes: 256 * MEBIBYTE });
  const session = await startHolder("short", HOLDER, small);

  const taken = [await session.checkpoint(), await session.checkpoint()];
  taken.push(await session.checkpoint({ durable: true }), await session.checkpoint());

  for (const { info } of taken.slice(1)) {
    expect(info.memoryBytes).toBeGreaterThan(HELD_MIB * MEBIBYTE);
    expect(info.pauseBytes).toBeLessThan((HELD_MIB / 4) * MEBIBYTE);
  }
  for (const { id } of taken) {
    await session.restore(id);
    expect(await answer(session)).toBe("right");
  }
});
