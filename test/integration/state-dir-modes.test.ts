import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { Waypoint } from "../../src/index.ts";
import { openTestWaypoint } from "../support/test-waypoint.ts";

const makeDir = () => mkdtempSync(path.join(os.tmpdir(), "waypoint-test-"));

/** Everything in the state directory, as the host sees it, that others than its owner may touch. */
function openToOthers(stateDir: string): string[] {
  const names = readdirSync(stateDir, { recursive: true, encoding: "utf8" });
  return ["", ...names].filter((name) => {
    const status = lstatSync(path.join(stateDir, name));
    // The namespace's file shows the kernel's own.
    return name !== "ns/mnt" && (status.mode & 0o077) !== 0;
  });
}

test("a state directory that everybody could read is closed, with all that is in it", async () => {
  const stateDir = makeDir();
  mkdirSync(path.join(stateDir, "failed"));
  writeFileSync(path.join(stateDir, "failed", "old.log"), "");
  for (const name of ["", "failed"]) chmodSync(path.join(stateDir, name), 0o755);

  await using own = await openTestWaypoint({ stateDir });
  const session = await own.waypoint.new({ net: "none" });
  await session.exec("true");
  await session.checkpoint();

  expect(openToOthers(stateDir)).toEqual([]);
});

test("root neither starts nor talks to a daemon in another user's directory", async () => {
  const stateDir = makeDir();
  chownSync(stateDir, 12_345, 12_345);

  await expect(Waypoint.open({ stateDir })).rejects.toMatchObject({ code: "USAGE_INVALID" });
  expect(existsSync(path.join(stateDir, "daemon.log"))).toBe(false);
  rmSync(stateDir, { recursive: true });
});
