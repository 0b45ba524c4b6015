import { afterAll, beforeAll, test } from "vitest";
import { killAtRandomMoments, ROUNDS, ROUNDS_TIMEOUT_MS } from "../support/crash-rounds.ts";
import { expectedHoldings, holdingsOf } from "../support/holdings.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

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
  () => killAtRandomMoments(own, { expectNoLeftovers }),
  ROUNDS_TIMEOUT_MS,
);
