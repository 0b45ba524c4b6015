import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { stateLayout } from "../../src/base/index.ts";
import { CrashModel, isExpectedFailure, killDaemon, seededRandom } from "./crash-model.ts";
import type { TestWaypoint } from "./test-waypoint.ts";

const SEED = Number(process.env["WAYPOINT_SOAK_SEED"] ?? 1);
const ROUND_TIMEOUT_MS = 60_000;
/** End of the daemons' log that a failure quotes. */
const LOG_CHARACTERS_MAX = 8_000;
/** Longer than any step takes, so that some end before the daemon does. */
const LIFE_MS_MAX = 160;

/** How often a soak kills the daemon, and how long it may take. */
export const ROUNDS = Number(process.env["WAYPOINT_SOAK_ROUNDS"] ?? 25);
export const ROUNDS_TIMEOUT_MS = ROUNDS * ROUND_TIMEOUT_MS;

/**
 * Does random steps and kills the daemon in the middle of each; then everything must be whole or gone.
 *
 * @param lifeShare  makes of a random number (0 to 1) the part of the longest life that it gets.
 */
export async function killAtRandomMoments(
  own: TestWaypoint,
  options: { expectNoLeftovers: () => Promise<void>; lifeShare?: (random: number) => number },
): Promise<void> {
  const { expectNoLeftovers, lifeShare = (share) => share } = options;
  const random = seededRandom(SEED);
  const model = new CrashModel(own.waypoint, random);
  const done: string[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const step = await model.next();
      const lifeMs = Math.floor(lifeShare(random()) * LIFE_MS_MAX);
      done.push(`${step.what} killed after ${lifeMs} ms`);
      const daemonPid = await own.daemonPid();
      const outcome = step.run().catch((error: unknown) => {
        if (!isExpectedFailure(error)) throw error;
      });
      // Its failure may come before the kill is done; it is looked at afterwards.
      outcome.catch(() => {});
      await delay(lifeMs);
      await killDaemon(daemonPid);
      await outcome;
      await model.checkSessions();
      await model.checkCheckpoints();
      await expectNoLeftovers();
    }
  } catch (cause) {
    const said = `${String(cause)} (WAYPOINT_SOAK_SEED=${SEED}: ${done.join("; ")})`;
    throw new Error(`${said}\n${endOfLog(own)}`, { cause });
  }
  expect(done).toHaveLength(ROUNDS);
}

function endOfLog({ stateDir }: TestWaypoint): string {
  try {
    return readFileSync(stateLayout(stateDir).logPath, "utf8").slice(-LOG_CHARACTERS_MAX);
  } catch (error) {
    return String(error);
  }
}
