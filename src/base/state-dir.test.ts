import path from "node:path";
import { expect, test } from "vitest";
import { stateLayout } from "./state-dir.ts";

test("everything lies inside the directory", () => {
  const { key: _key, stateDir, ...paths } = stateLayout("/srv/waypoint");

  for (const inside of Object.values(paths)) {
    expect(path.relative(stateDir, inside)).not.toMatch(/^(\.\.|$|\/)/);
  }
});

test("the same directory has the same layout, however it is written", () => {
  expect(stateLayout("/srv/../srv/waypoint/")).toEqual(stateLayout("/srv/waypoint"));
  expect(stateLayout(".").stateDir).toBe(process.cwd());
});

test("different directories have different keys that fit into a link's name", () => {
  const keys = ["/a", "/b", "/a/b"].map((directory) => stateLayout(directory).key);

  expect(new Set(keys).size).toBe(3);
  expect(keys.every((key) => /^[0-9a-f]{8}$/.test(key))).toBe(true);
});
