import { afterEach, expect, test, vi } from "vitest";
import { runCommand } from "../support/command-line.ts";
import { openTestWaypoint } from "../support/test-waypoint.ts";

const MEBIBYTE = 1024 ** 2;
/** Enough for its writes to be followed where the kernel can. */
const HELD_MEBIBYTES = 48;
const HOLD = `/usr/bin/python3 -c 'import os, time; held = os.urandom(${HELD_MEBIBYTES} << 20)
open("/root/held", "w").write("yes"); time.sleep(1e6)' & until test -s /root/held; do sleep 0.05; done`;

afterEach(() => vi.unstubAllEnvs());

test.each([
  ["a machine that cannot follow writes copies everything, and `doctor` says so", true],
  ["another one does not", false],
])("%s", async (_title, isHidden) => {
  if (isHidden) vi.stubEnv("WAYPOINT_HIDE_TRACKING", "on");
  await using own = await openTestWaypoint();
  const session = await own.waypoint.new();
  await session.exec(HOLD);
  const first = await session.checkpoint();
  await session.exec("echo more > /root/more");

  const second = await session.checkpoint();

  const { memoryBytes, pauseBytes } = second.info;
  expect(memoryBytes).toBeGreaterThan(HELD_MEBIBYTES * MEBIBYTE);
  if (isHidden) expect(pauseBytes).toBe(null);
  else expect(pauseBytes).toBeLessThan((HELD_MEBIBYTES / 2) * MEBIBYTE);
  const { stdout } = await runCommand(own.stateDir, ["doctor"]);
  const missing =
    "follow-writes: missing: hidden by WAYPOINT_HIDE_TRACKING; each checkpoint copies";
  expect(stdout.includes(missing)).toBe(isHidden);
  await session.restore(first);
  expect((await session.exec("ls /root/more; jobs")).stdout).toContain("Running");
});
