import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { killProcess } from "../../src/base/index.ts";
import { type Checkpoint, type Session, WaypointError } from "../../src/index.ts";
import { killDaemon } from "../support/crash-model.ts";
import { randomFrom, requireUnharmed, startRestless, tellRestless } from "../support/restless.ts";
import { findAssemble, findDump, killAtWork } from "../support/running-dump.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** So often each victim dies, evenly over the length of a checkpoint. */
const KILLS = Number(process.env["WAYPOINT_TRACKED_KILLS"] ?? 6);
const SEED = Number(process.env["WAYPOINT_TRACKED_SEED"] ?? 1);
const ROUND_TIMEOUT_MS = 60_000;
/**
 * What the program says of itself. A child of it that CRIU had its code in ends by a trap with CRIU, which its parent
 * tells.
 */
const TOLD = /^(?:\d+: a child ended: 5, \(nil\)\n)*alive [01]$/;
/** Long enough for the program to have looked at all of its memory. */
const LOOK_MS = 1_500;

let own: TestWaypoint;
let session: Session;
let whole: Checkpoint;

beforeAll(async () => {
  // Every program is followed, copied ahead, and every page of every dump compared with a second copy.
  process.env["WAYPOINT_TRACK_MEMORY"] = "0";
  process.env["WAYPOINT_TRACK_AHEAD"] = "on";
  process.env["WAYPOINT_COMPARE_MEMORY"] = "on";
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "restless" });
  await startRestless(session, SEED);
  whole = await session.checkpoint();
});

afterAll(async () => {
  delete process.env["WAYPOINT_TRACK_MEMORY"];
  delete process.env["WAYPOINT_TRACK_AHEAD"];
  delete process.env["WAYPOINT_COMPARE_MEMORY"];
  await own?.[Symbol.asyncDispose]();
});

const pidOf = async () => (await session.info()).pid ?? 0;

/** Returns the program that follows the writes of the session. */
async function trackerOf(init: number): Promise<number | undefined> {
  const isIt = (pid: string) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return words[1] === "serve" && words[3] === String(init);
    } catch {
      return false; // It has ended.
    }
  };
  const found = readdirSync("/proc").find((name) => /^\d+$/.test(name) && isIt(name));
  return found === undefined ? undefined : Number(found);
}

/** Returns what is to end; undefined where nothing of it runs now. */
const victims: Record<string, (init: number, daemon: number) => Promise<number | undefined>> = {
  tracker: async (init) => await trackerOf(init),
  CRIU: async (_init, daemon) => findDump(own.stateDir, daemon),
  "image-assemble": async (_init, daemon) => findAssemble(daemon),
  daemon: async (_init, daemon) => daemon,
  init: async (init) => init,
};

/** A checkpoint of which a victim dies at a part of its length: CRIU's begins with it, and is the pause. */
async function killIn(victim: string, part: number, usualMs: number): Promise<boolean> {
  const [init, daemon] = [await pidOf(), await own.daemonPid()];
  let isDone = false;
  const outcome = session
    .checkpoint()
    .catch((error: unknown) => error)
    .finally(() => {
      isDone = true;
    });
  const isCriu = victim === "CRIU";
  // What does not run all the time is waited for.
  if (!isCriu && victim !== "image-assemble") await delay(part * usualMs);
  let pid = await victims[victim]?.(init, daemon);
  while (pid === undefined && !isDone) {
    await delay(0);
    pid = await victims[victim]?.(init, daemon);
  }
  if (isCriu) await delay(part * whole.info.pauseMs);
  const isKilled = pid !== undefined && (await kill(victim, pid));
  const result = await outcome;
  if (result instanceof Error) expect(result).toBeInstanceOf(WaypointError);
  return isKilled;
}

async function kill(victim: string, pid: number): Promise<boolean> {
  if (victim === "CRIU") return await killAtWork(pid);
  if (victim === "daemon") await killDaemon(pid);
  else killProcess(pid);
  return true;
}

/** What died may have taken the session with it, or the program that CRIU had its code in; nothing else. */
async function goOn(done: string): Promise<void> {
  const told = await tellRestless(session).catch((error: unknown) => {
    expect(error, done).toMatchObject({
      code: expect.stringMatching(/^SESSION_(WRONG_STATE|ENDED)$/),
    });
    return "alive 1";
  });
  expect(told, done).toMatch(TOLD);
  if (told.endsWith("alive 1")) await session.restore(whole);
}

test.each(Object.keys(victims))(
  `the next checkpoint is whole when the %s is killed in ${KILLS} others`,
  async (victim) => {
    const random = randomFrom(SEED);
    let killed = 0;
    // One that comes too late counts for nothing.
    for (let round = 0; killed < KILLS && round < 3 * KILLS; round += 1) {
      const begunMs = performance.now();
      whole = await session.checkpoint();
      const usualMs = performance.now() - begunMs;
      const part = ((round % KILLS) + random(1000) / 1000) / KILLS;
      const done = `seed ${SEED}, ${victim}, kill ${round} at ${part} of ${usualMs} ms`;

      killed += Number(await killIn(victim, part, usualMs));
      await goOn(done);
      const next = await session.checkpoint();
      await requireUnharmed(session, done);
      await session.restore(next);
      await delay(LOOK_MS);
      await requireUnharmed(session, `${done}, restored`);
      whole = next;
    }
    expect(killed).toBeGreaterThan(KILLS / 3);
  },
  3 * KILLS * ROUND_TIMEOUT_MS,
);
