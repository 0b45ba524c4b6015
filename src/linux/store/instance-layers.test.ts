import { expect, test } from "vitest";
import { insidePathOf } from "./instance-layers.ts";

test("a path of a subvolume is one inside the session, or none", () => {
  const mountPoints = ["/home", "/srv/data"];
  expect(insidePathOf("upper/run/a", mountPoints)).toBe("/run/a");
  expect(insidePathOf("mounts/1/upper/a", mountPoints)).toBe("/srv/data/a");
  expect(insidePathOf("mounts/2/upper/a", mountPoints)).toBeNull();
  expect(insidePathOf("work/index/00fb", mountPoints)).toBeNull();
});
