import { existsSync, readFileSync, statfsSync } from "node:fs";
import { expect, test } from "vitest";
import { parseMountInfo } from "../../formats/proc/index.ts";
import { mountedAt } from "./raw-files.ts";

test("what is mounted is read-only where its mount is, or its filesystem", () => {
  const mounts = parseMountInfo(readFileSync("/proc/self/mountinfo", "utf8"));
  const tops = new Map(mounts.map((each) => [each.mountPoint, each]));
  const said = [...tops].flatMap(([place, { options, filesystemOptions }]) => {
    // One that is below another's mount is not what its name leads to.
    const isOver = mounts.some(
      ({ mountPoint }) => place !== "/" && place.startsWith(`${mountPoint}/`),
    );
    if (isOver || !existsSync(place)) return [];
    const isReadOnly = options.includes("ro") || filesystemOptions.includes("ro");
    return [{ place, type: statfsSync(place).type >>> 0, isReadOnly }];
  });
  expect(said.length).toBeGreaterThan(0);
  expect(said.map(({ place }) => ({ place, ...mountedAt(place) }))).toEqual(said);
});

test("what is not there is said with its code", () => {
  expect(() => mountedAt("/nonexistent")).toThrow(expect.objectContaining({ code: "ENOENT" }));
});
