import { expect, test } from "vitest";
import { describeResources } from "./check-resources.ts";

const diskOf = (stateDir: string) => describeResources(stateDir).find(({ id }) => id === "disk");

test("a state directory in memory is told to be lost with the power", () => {
  expect(diskOf("/dev/shm/waypoint")?.detail).toContain("nothing there survives a power loss");
});
