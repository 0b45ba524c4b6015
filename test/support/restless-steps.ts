import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { canOfferLargePages, countLargePages, offerLargePages } from "./large-pages.ts";
import { randomFrom, requireUnharmed, startRestless } from "./restless.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "./test-waypoint.ts";

/**
 * In each of four files, so that they run beside others; `WAYPOINT_RESTLESS_STEPS` for more. In two fifths of
 * them something is done, in the others the programs work on for a moment.
 */
const STEPS = Number(process.env["WAYPOINT_RESTLESS_STEPS"] ?? 500);
/** `WAYPOINT_RESTLESS_TRACKING=off`: the same steps with plain dumps, to tell whose fault a wrong page is. */
const IS_TRACKED = process.env["WAYPOINT_RESTLESS_TRACKING"] !== "off";
const SESSIONS_MAX = 2;
const CHECKPOINTS_MAX = 12;
const MOMENT_MS_MAX = 100;
/** More than the programs of all sessions can have at once, with what a restore takes before the old ones end. */
const LARGE_PAGES = 512;
/** In so many steps programs map hundreds of areas, of which one in fourteen is a large page. */
const STEPS_FOR_LARGE_PAGES = 200;
/** How many of the steps before a wrong page are told. */
const LATELY = 12;

/** What each checkpoint copied in its pause, and all that its images hold. */
function copied(own: TestWaypoint): { copiedBytes: number; of: number }[] {
  const log = readFileSync(path.join(own.stateDir, "daemon.log"), "utf8");
  return log
    .split("\n")
    .filter((line) => line.includes("memory copied in the pause"))
    .map((line) => JSON.parse(line) as { copiedBytes: number; of: number });
}

/**
 * Takes checkpoints, restores and forks at random moments of programs that know what each of their pages has to be.
 *
 * @param seedDefault  of what is done; `WAYPOINT_RESTLESS_SEED` is added to it.
 * @param how.copiesAhead  also what is small is copied before its first pause.
 */
export function takeRandomSteps(seedDefault: number, how: { copiesAhead: boolean }): void {
  const seed = seedDefault + Number(process.env["WAYPOINT_RESTLESS_SEED"] ?? 0);
  let own: TestWaypoint;
  let largePages: Disposable | null = null;

  beforeAll(async () => {
    // Every program is followed, and every page of every dump compared with a second copy.
    if (IS_TRACKED) process.env["WAYPOINT_TRACK_MEMORY"] = "0";
    if (IS_TRACKED) process.env["WAYPOINT_COMPARE_MEMORY"] = "on";
    if (IS_TRACKED && how.copiesAhead) process.env["WAYPOINT_TRACK_AHEAD"] = "on";
    if (canOfferLargePages()) largePages = offerLargePages(LARGE_PAGES);
    own = await openTestWaypoint();
  });

  afterAll(async () => {
    delete process.env["WAYPOINT_TRACK_MEMORY"];
    delete process.env["WAYPOINT_COMPARE_MEMORY"];
    delete process.env["WAYPOINT_TRACK_AHEAD"];
    try {
      await own?.[Symbol.asyncDispose]();
    } finally {
      largePages?.[Symbol.dispose]();
    }
  });

  test(
    `${STEPS} random steps, seed ${seed}, with programs that change their memory in every way`,
    async () => {
      const random = randomFrom(seed);
      const sessions = [await own.waypoint.new({ name: "restless" })];
      await startRestless(sessions[0] as Session, seed);
      const checkpoints: { session: Session; id: string }[] = [];
      const lately: string[] = [];
      let largePagesSeen = 0;
      for (let step = 0; step < STEPS; step += 1) {
        const session = sessions[random(sessions.length)] as Session;
        const action = random(20);
        const known = checkpoints.filter((each) => each.session === session);
        let done = `step ${step}: a checkpoint`;
        const earlier = known[random(Math.max(1, known.length))];
        if (action > 7) {
          // What programs change between two checkpoints is little or much.
          await setTimeout(random(MOMENT_MS_MAX));
          continue;
        }
        if (action === 0 && earlier !== undefined) {
          await session.restore(earlier.id);
          done = `step ${step}: a restore of ${earlier.id}`;
        } else if (action === 1 && earlier !== undefined && sessions.length < SESSIONS_MAX) {
          sessions.push(...(await own.waypoint.fork(earlier.id)));
          done = `step ${step}: a fork of ${earlier.id}`;
        } else {
          const { id } = await session.checkpoint();
          checkpoints.push({ session, id });
          const [old, ...kept] = checkpoints.length > CHECKPOINTS_MAX ? checkpoints : [];
          if (old !== undefined) {
            await own.waypoint.removeCheckpoints([old.id], { force: true });
            checkpoints.splice(0, checkpoints.length, ...kept);
          }
        }
        lately.push(`${done} in ${session.name}`);
        await requireUnharmed(session, lately.slice(-LATELY).join("; "));
        largePagesSeen = Math.max(largePagesSeen, countLargePages());
      }

      // Where the kernel has them, and it took long enough: else nothing of them was tried.
      if (largePages !== null && STEPS >= STEPS_FOR_LARGE_PAGES)
        expect(largePagesSeen).toBeGreaterThan(0);

      if (!IS_TRACKED) return;
      await eventually(
        "pages that were not copied",
        () => copied(own),
        (all) => all.some(({ copiedBytes, of }) => copiedBytes < of),
      );
    },
    120_000 + STEPS * 10_000,
  );
}
