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

async function startHolder(name: string): Promise<Session> {
  const session = await own.waypoint.new({ name });
  await session.exec(`cat > /root/holder.py <<'END'\n${HOLDER}\nEND`);
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
