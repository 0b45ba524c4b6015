import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint({ standby: { policy: "head" } });
  session = await own.waypoint.new({ name: "web", net: "none", env: { HOME: "/none" } });
  await session.exec("mkdir /srv/app; cd /srv/app; echo one > file");
  await session.checkpoint({ name: "green" });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

test("a restore and an undo from standbys are checked by what they really left", async () => {
  await session.exec("echo two > file; (sleep 100005 &)");
  await eventually(
    "a standby",
    () => session.standby(),
    ({ ready }) => ready.length > 0,
  );
  const plan = await session.planRestore("green");
  const restored = await session.restore("green", { check: true });
  const undone = await session.undo({ check: true });
  const again = await session.undo({ check: true });

  // The standby of the checkpoint itself is what the restore takes.
  expect(plan.untouched.standbys).toEqual([]);
  const same = { missing: [], others: [] };
  for (const { check } of [restored, undone, again]) {
    expect(check).toMatchObject({ asPlanned: true, processes: same, ports: same, unknown: {} });
  }
  expect((await session.exec("cat file")).stdout).toBe("one\n");
});

test("files that are put back use no standby, and those that are there stay", async () => {
  await session.checkpoint({ name: "here" });
  const { ready } = await eventually(
    "a standby",
    () => session.standby(),
    (standby) => standby.ready.length > 0,
  );
  await session.exec("echo three > file");
  const plan = await session.planRestore("green", { only: "files" });
  const { undo } = await session.restore("green", { only: "files" });
  const { head } = await session.info();

  expect(plan.untouched.standbys).toEqual(expect.arrayContaining(ready));
  expect(head).toBe(undo);
  expect((await session.exec("cat file")).stdout).toBe("one\n");
});
