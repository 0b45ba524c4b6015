import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { withMountRoot } from "./stale-mount-roots.ts";

test("what a failed restore left is removed, and nothing else", async () => {
  const rootsDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-roots-"));
  mkdirSync(path.join(rootsDir, ".criu.mntns.others"));

  await withMountRoot(async (mountRoot) => {
    mkdirSync(mountRoot);
    return { exitCode: 1 };
  }, rootsDir);

  expect(readdirSync(rootsDir)).toEqual([".criu.mntns.others"]);
  rmSync(rootsDir, { recursive: true });
});

test("its name is not longer than the one that CRIU has room for", async () => {
  const { length } = await withMountRoot(async (mountRoot) => ({
    exitCode: 0,
    length: mountRoot.length,
  }));

  expect(length).toBeLessThanOrEqual("/tmp/.criu.mntns.XXXXXX".length);
});
