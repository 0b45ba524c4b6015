import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { findLeftovers, noteTraces } from "../support/leftovers.ts";
import { eventually, openTestWaypoint } from "../support/test-waypoint.ts";

test("when the daemon is stopped with its sessions, nothing of it is left", async () => {
  const own = await openTestWaypoint();
  const { waypoint, stateDir } = own;
  const session = await waypoint.new({ name: "first" });
  await session.exec("sleep 100000 & setsid sleep 100000 & /usr/bin/python3 -m http.server 80 &");
  const checkpoint = await session.checkpoint();
  await session.restore(checkpoint);
  await session.undo();
  const [stopped, ended, removed] = (await checkpoint.fork(4)) as Session[] as [
    Session,
    Session,
    Session,
  ];
  await waypoint.new({ name: "alone", net: "none" });
  const traces = await noteTraces(waypoint, await own.daemonPid());
  await stopped.stop();
  process.kill((await ended.info()).pid ?? Number.NaN, "SIGKILL");
  await removed.remove({ force: true });
  await waypoint.new({ base: "/nowhere" }).catch(() => null);
  expect(await findLeftovers(traces)).not.toEqual([]);

  await own[Symbol.asyncDispose]();

  // The kernel takes a link down in the background when its namespace goes.
  await eventually(
    "a machine with nothing left",
    () => findLeftovers(traces),
    (found) => found.length === 0,
  );
  expect(existsSync(stateDir)).toBe(false);
});
