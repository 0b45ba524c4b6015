import { expect, test } from "vitest";
import { eventually, openTestWaypoint } from "../support/test-waypoint.ts";

const STEPS = 200;
const BROKEN_AT = 137;

test("the first bad one is found in a timeline of hundreds that took itself", async () => {
  await using own = await openTestWaypoint();
  const session = await own.waypoint.new({
    ...{ name: "web", net: "none", auto: "command", env: { HOME: "/none" } },
  });
  // Commands that come quickly share a checkpoint, so each waits for its own.
  const readHead = async () => (await session.info()).head;
  for (let step = 1; step <= STEPS; step += 1) {
    const before = await readHead();
    await session.exec(`echo ${step} > /root/step`);
    await eventually(`the checkpoint of step ${step}`, readHead, (head) => head !== before);
  }
  const { checkpoints } = await session.log();
  const [first, last] = [checkpoints[0], checkpoints.at(-1)];

  const found = await own.waypoint.bisect(
    first?.id ?? "",
    last?.id ?? "",
    `test $(cat /root/step) -lt ${BROKEN_AT}`,
    { concurrency: 2 },
  );

  expect(checkpoints.length).toBeGreaterThanOrEqual(STEPS);
  expect(checkpoints.every(({ trigger }) => trigger === "auto")).toBe(true);
  expect(found.firstBad?.derivedIntent?.text).toBe(`echo ${BROKEN_AT} > /root/step`);
  expect(found.rounds).toBeLessThanOrEqual(5);
});
