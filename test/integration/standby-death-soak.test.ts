import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CrashModel, isExpectedFailure, killDaemon, seededRandom } from "../support/crash-model.ts";
import { expectedHoldings, holdingsOf } from "../support/holdings.ts";
import { standbysOf } from "../support/standby.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const ROUNDS = Number(process.env["WAYPOINT_SOAK_ROUNDS"] ?? 25);
const SEED = Number(process.env["WAYPOINT_SOAK_SEED"] ?? 1);
/** Longer than any step takes, so that some end before the daemon does. */
const LIFE_MS_MAX = 160;
const ROUND_TIMEOUT_MS = 60_000;
const KINDS = ["mounts", "networks", "inits", "instances"] as const;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint({ standby: { policy: "head" } });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Nothing is on the machine but what the catalog and the pool of standbys know of. */
async function expectNoLeftovers(): Promise<void> {
  const pid = await own.daemonPid();
  const differences = async () => {
    const { count } = await standbysOf(own);
    const { images, criu, checkpoints, ...found } = holdingsOf(own.stateDir, pid);
    const expected = expectedHoldings(own.stateDir);
    const left = {
      strayImages: images.filter((id) => !expected.checkpoints.includes(id)),
      criu,
      // Incarnations of sessions are each where they should be; the others are standbys.
      missing: KINDS.flatMap((kind) => expected[kind].filter((id) => !found[kind].includes(id))),
      surplus: KINDS.map((kind) => found[kind].length - expected[kind].length - count),
      checkpoints: checkpoints.filter((id) => !expected.checkpoints.includes(id)),
    };
    return left.surplus.every((surplus) => surplus === 0) &&
      [left.strayImages, left.criu, left.missing, left.checkpoints].every((l) => l.length === 0)
      ? null
      : { expected, found, left, count };
  };
  await eventually("the machine to be tidy", differences, (found) => found === null);
}

test(
  `a daemon with standbys killed at ${ROUNDS} random moments leaves everything whole or gone`,
  async () => {
    const random = seededRandom(SEED);
    const model = new CrashModel(own.waypoint, random);
    const done: string[] = [];
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        const step = await model.next();
        // Many short ones: a move from a standby takes a few milliseconds, and every step of it is to be hit.
        const lifeMs = Math.floor(random() ** 3 * LIFE_MS_MAX);
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
