import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CrashModel, isExpectedFailure, killDaemon, seededRandom } from "../support/crash-model.ts";
import { expectedHoldings, holdingsOf } from "../support/holdings.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const ROUNDS = Number(process.env["WAYPOINT_SOAK_ROUNDS"] ?? 25);
const SEED = Number(process.env["WAYPOINT_SOAK_SEED"] ?? 1);
/** Longer than any step takes, so that some end before the daemon does. */
const LIFE_MS_MAX = 160;
const ROUND_TIMEOUT_MS = 60_000;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Nothing is on the machine that the catalog does not know of, and the other way round. */
async function expectNoLeftovers(): Promise<void> {
  const pid = await own.daemonPid();
  const differences = () => {
    const { images, criu, ...found } = holdingsOf(own.stateDir, pid);
    const expected = expectedHoldings(own.stateDir);
    const strayImages = images.filter((id) => !expected.checkpoints.includes(id));
    return JSON.stringify({ ...found, strayImages, criu }) ===
      JSON.stringify({ ...expected, strayImages: [], criu: [] })
      ? null
      : { expected, found, strayImages, criu };
  };
  await eventually("the machine to be tidy", differences, (found) => found === null);
}

test(
  `a daemon killed at ${ROUNDS} random moments leaves everything whole or gone`,
  async () => {
    const random = seededRandom(SEED);
    const model = new CrashModel(own.waypoint, random);
    const done: string[] = [];
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        const step = await model.next();
        const lifeMs = Math.floor(random() * LIFE_MS_MAX);
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
      throw new Error(`WAYPOINT_SOAK_SEED=${SEED}: ${done.join("; ")}: ${String(cause)}`, {
        cause,
      });
    }
    expect(done).toHaveLength(ROUNDS);
  },
  ROUNDS * ROUND_TIMEOUT_MS,
);
