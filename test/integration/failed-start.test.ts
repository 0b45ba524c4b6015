import { existsSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { lookAround } from "../../scripts/check/left-behind.ts";
import { stateLayout } from "../../src/base/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { failureOf } from "../support/failing-command.ts";
import { eventually, openTestWaypoint } from "../support/test-waypoint.ts";

/** Makes the catalog one of a Waypoint that is not written yet, or takes that back. */
function setVersion(stateDir: string, version: number): number {
  using catalog = new DatabaseSync(stateLayout(stateDir).catalogPath);
  const row = catalog.prepare("PRAGMA user_version").get() as { user_version: number };
  catalog.exec(`PRAGMA user_version = ${version}`);
  return row.user_version;
}

const mountsOf = (stateDir: string) =>
  readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => line.includes(stateDir));
const isHeld = (stateDir: string) =>
  lookAround(stateDir).filter((line) => !line.startsWith("file "));

test("a daemon that fails to start leaves no mount, loop device or process", async () => {
  await using own = await openTestWaypoint();
  await callOperation(own.stateDir, "daemon.stop", { sessions: true });
  await eventually(
    "the daemon's end",
    () => isHeld(own.stateDir),
    ({ length }) => length === 0,
  );
  const version = setVersion(own.stateDir, 1_000_000);

  const { error } = await failureOf(own, ["ls"]);

  expect(error.code).toBe("FORMAT_TOO_NEW");
  await eventually(
    "nothing",
    () => isHeld(own.stateDir),
    ({ length }) => length === 0,
  );
  expect(mountsOf(own.stateDir)).toEqual([]);
  setVersion(own.stateDir, version);
});

test("sessions of an earlier daemon keep their mounts when the next one fails to start", async () => {
  await using own = await openTestWaypoint();
  const session = await own.waypoint.new({ net: "none" });
  await session.exec("echo kept > /root/kept");
  const daemonPid = await own.daemonPid();
  await callOperation(own.stateDir, "daemon.stop", {});
  await eventually(
    "the daemon's end",
    () => existsSync(`/proc/${daemonPid}`),
    (isThere) => !isThere,
  );
  const version = setVersion(own.stateDir, 1_000_000);

  expect((await failureOf(own, ["ls"])).error.code).toBe("FORMAT_TOO_NEW");

  // The daemon that has failed may not have ended yet; it has let the catalog go before it said so.
  setVersion(own.stateDir, version);
  expect((await session.exec("cat /root/kept")).stdout).toBe("kept\n");
});
