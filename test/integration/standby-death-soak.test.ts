import { afterAll, beforeAll, test } from "vitest";
import { killAtRandomMoments, ROUNDS, ROUNDS_TIMEOUT_MS } from "../support/crash-rounds.ts";
import { expectedHoldings, holdingsOf } from "../support/holdings.ts";
import { standbysOf } from "../support/standby.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

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
      // Instances of sessions are each where they should be; the others are standbys.
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
  () =>
    killAtRandomMoments(own, {
      expectNoLeftovers,
      // Many short ones: a move from a standby takes a few milliseconds, and every step of it is to be hit.
      lifeShare: (share) => share ** 3,
    }),
  ROUNDS_TIMEOUT_MS,
);
