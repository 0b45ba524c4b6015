import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { PidsGroup } from "../support/pids-group.ts";
import { sessionGroups } from "../support/session-groups.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** What a session of this test's daemon may have that says nothing else. */
const PIDS_DEFAULT = 150;
/** For the daemon, and for what of a bomb no limit holds. */
const ROOM = 700;
/** A bomb that no limit holds ends by itself, at 512: this runs on machines that others use. */
const GENERATIONS_MAX = 9;
/** As `:(){ :|:& };:`, without a shell's patience where it cannot fork. */
const BOMB = `setsid perl -e '
  $n = 0; while ($n++ < ${GENERATIONS_MAX}) { fork; select(undef, undef, undef, 0.05) } sleep 1000
' >/dev/null 2>&1 &`;

let own: TestWaypoint;
let group: PidsGroup;
let bombed: Session;
let other: Session;

beforeAll(async () => {
  process.env["WAYPOINT_PIDS"] = String(PIDS_DEFAULT);
  own = await openTestWaypoint();
  delete process.env["WAYPOINT_PIDS"];
  group = new PidsGroup(await own.daemonPid());
  group.leaveRoom(ROOM);
  bombed = await own.waypoint.new({ name: "bombed" });
  other = await own.waypoint.new({ name: "other" });
});

afterAll(async () => {
  group?.leaveAllRoom();
  await group?.remove();
  await own?.[Symbol.asyncDispose]();
});

test("a fork bomb ends at the session's limit; the daemon and another session work on", async () => {
  const daemonPid = await own.daemonPid();
  await bombed.exec(BOMB);
  await eventually(
    "the session to be at its limit",
    async () => (await bombed.info()).limitsHit?.pids ?? 0,
    (hits) => hits > 0,
  );

  await expect(bombed.exec("true", { shell: "own" })).rejects.toMatchObject({
    code: "PROCESSES_FULL",
    message: `Session bombed can start no further process: it may have ${PIDS_DEFAULT}.`,
  });
  expect((await bombed.ps()).length).toBeLessThanOrEqual(PIDS_DEFAULT);
  expect((await other.exec("seq 3 | tac | head -n 1")).stdout).toBe("3\n");
  expect((await runCommand(own.stateDir, ["ls"])).stdout).toMatch(/was at its limit: pids/);
  const third = await own.waypoint.new({ name: "third" });
  expect((await third.exec("echo works", { shell: "own" })).stdout).toBe("works\n");
  await third.remove({ force: true });
  expect(await own.daemonPid()).toBe(daemonPid);
});

test("a bombed session is captured, restored and removed, and leaves nothing", async () => {
  const checkpoint = await bombed.checkpoint();
  expect((await checkpoint.show()).limits.pids).toBe(PIDS_DEFAULT);

  await bombed.restore(checkpoint);

  await expect(bombed.exec("true", { shell: "own" })).rejects.toMatchObject({
    code: "PROCESSES_FULL",
  });
  const [fork] = (await checkpoint.fork(1)) as [Session];
  await expect(fork.exec("true", { shell: "own" })).rejects.toMatchObject({
    code: "PROCESSES_FULL",
  });
  const pids = (await Promise.all([bombed.ps(), fork.ps()])).flat().map(({ hostPid }) => hostPid);
  await fork.remove({ force: true });
  await bombed.remove({ force: true });
  await eventually(
    "all processes to be gone",
    () => pids.filter((pid) => existsSync(`/proc/${pid}`)),
    (living) => living.length === 0,
  );
  const left = sessionGroups(own.stateDir);
  expect(left.filter((name) => name.startsWith(bombed.id) || name.startsWith(fork.id))).toEqual([]);
  expect((await other.exec("echo works on")).stdout).toBe("works on\n");
});

test("where it was the machine that had no room, a session with a limit is not blamed", async () => {
  const full = await own.waypoint.new({ name: "full", pids: 100 });
  const limit = new PidsGroup((await full.info()).pid ?? 0);
  try {
    limit.leaveRoom(0);
    await expect(full.exec("true", { shell: "own" })).rejects.toMatchObject({
      code: "PROCESSES_FULL",
      message: "No further process can be started on this machine.",
    });
  } finally {
    limit.leaveAllRoom();
    await limit.remove();
  }
  expect((await full.exec("echo again", { shell: "own" })).stdout).toBe("again\n");
  await full.remove({ force: true });
});

test("the default is told, can be turned off, and is what a fork inherits", async () => {
  const free = await own.waypoint.new({ name: "free", pids: null });
  expect((await free.info()).limits.pids).toBeNull();
  expect((await other.info()).limits.pids).toBe(PIDS_DEFAULT);
  const checkpoint = await other.checkpoint();

  const [same] = (await checkpoint.fork(1)) as [Session];
  const [wider] = (await checkpoint.fork(1, { pids: 300 })) as [Session];
  const [unlimited] = (await checkpoint.fork(1, { pids: null })) as [Session];

  const limits = [same, wider, unlimited].map(async (each) => (await each.info()).limits.pids);
  expect(await Promise.all(limits)).toEqual([PIDS_DEFAULT, 300, null]);
  const shown = await runCommand(own.stateDir, ["show", checkpoint.id]);
  expect(shown.stdout).toMatch(new RegExp(`Limits:\\s+${PIDS_DEFAULT} processes`));
  const listed = await runCommand(own.stateDir, ["ls"]);
  expect(listed.stdout).toMatch(/^free .*unlimited/m);
  for (const each of [free, same, wider, unlimited]) await each.remove({ force: true });
});
