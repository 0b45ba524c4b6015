import { expect, test } from "vitest";
import { findNoise } from "./noise.ts";

test.each([
  ["/srv/app/node_modules/x/node_modules/y", "node_modules", "/srv/app/node_modules"],
  ["/srv/app/node_modules", "node_modules", "/srv/app/node_modules"],
  ["/srv/.git/objects/ab/cd", "git", "/srv/.git"],
  ["/srv/a/__pycache__/m.pyc", "python cache", "/srv/a/__pycache__"],
  ["/srv/web/.next/static/a.js", "build cache", "/srv/web/.next"],
  ["/srv/.idea/workspace.xml", "editor files", "/srv/.idea"],
  ["/var/lib/apt/lists/x", "apt lists", "/var/lib/apt/lists"],
  ["/var/cache/debconf/config.dat", "cache", "/var/cache"],
])("%s belongs to %s", (path, name, top) => {
  expect(findNoise(path)).toEqual({ name, path: top });
});

test.each(["/", "/srv/my_node_modules/x", "/srv/.gitignore", "/var/cached", "/var/lib/apt"])(
  "%s is no noise",
  (path) => {
    expect(findNoise(path)).toBeNull();
  },
);
