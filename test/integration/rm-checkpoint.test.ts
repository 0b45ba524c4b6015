import { existsSync, rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { failureOf } from "../support/failing-command.ts";
import { holdingsOf } from "../support/holdings.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let session: Session;
let points: Checkpoint[];

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web" });
  points = [];
  for (const name of ["one", "two", "three", "four"]) {
    await session.exec(`cd /srv; echo ${name} > ${name}; export MARK=${name}`);
    points.push(await session.checkpoint({ name, durable: true }));
  }
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

const idOf = (index: number) => points[index]?.id ?? "";

async function parents() {
  const { checkpoints } = await own.waypoint.log();
  return Object.fromEntries(checkpoints.map(({ id, parent }) => [id, parent]));
}

test("one in the middle goes; its child has its parent, and all else works on", async () => {
  const { removed, reparented } = await own.waypoint.removeCheckpoints(["two"]);

  expect(removed).toEqual([{ id: idOf(1), name: "two", sessionName: "web" }]);
  expect(reparented).toEqual([idOf(2)]);
  expect(await parents()).toEqual({ [idOf(0)]: null, [idOf(2)]: idOf(0), [idOf(3)]: idOf(2) });
  const held = holdingsOf(own.stateDir, await own.daemonPid());
  expect([...held.checkpoints, ...held.images]).not.toContain(idOf(1));
  expect((await own.waypoint.show("web@~1")).id).toBe(idOf(2));
  expect((await failureOf(own, ["show", "two"])).error.code).toBe("CHECKPOINT_NOT_FOUND");
  await eventually(
    "the story of what differs from the new parent",
    async () => JSON.stringify((await own.waypoint.show("three")).changes),
    (changes) => changes.includes("/srv/two"),
  );
  await session.restore("three", { withoutUndo: true });
  expect((await session.exec("echo $MARK; ls")).stdout).toBe("three\none\nthree\ntwo\n");
  await session.restore("four", { withoutUndo: true });
});

test("one that is needed is refused with what needs it; nothing goes, with --force all", async () => {
  const standing = await failureOf(own, ["rm", "one", "four"]);
  expect({ code: standing.error.code, exitCode: standing.exitCode }).toEqual({
    code: "CHECKPOINT_IN_USE",
    exitCode: 12,
  });
  expect(standing.error.message).toContain("session web stands on it");
  expect(standing.error.hint).toContain("--force");
  expect(Object.keys(await parents())).toHaveLength(3);

  const { undo } = await session.restore("three");
  const needed = await failureOf(own, ["rm", String(undo)]);
  expect(needed.error.message).toContain("the undo of operation");

  await own.waypoint.removeCheckpoints([String(undo), "three"], { force: true });
  expect((await session.info()).head).toBe(idOf(0));
  expect((await failureOf(own, ["undo", "web"])).error.code).toBe("NOTHING_TO_UNDO");
  expect((await session.operations()).at(-1)?.whyNot).toContain("is gone");
  expect((await session.exec("echo $MARK")).stdout).toBe("three\n");
});

test("what is removed stays removed without the catalog", async () => {
  const before = await parents();
  const pid = await own.daemonPid();
  process.kill(pid, "SIGKILL");
  await eventually(
    "the daemon's end",
    () => existsSync(`/proc/${pid}`),
    (exists) => !exists,
  );
  for (const end of ["", "-wal", "-shm"]) {
    rmSync(`${own.stateDir}/catalog.sqlite${end}`, { force: true });
  }

  expect(await parents()).toEqual(before);
  expect((await session.info()).head).toBe(idOf(0));
});

test("the files of a session that does not run go, and its checkpoints stay", async () => {
  expect((await failureOf(own, ["rm", "--files", "web"])).error.code).toBe("SESSION_WRONG_STATE");
  await session.stop({ checkpoint: false });

  await session.removeFiles();

  const held = holdingsOf(own.stateDir, await own.daemonPid());
  expect(held.instances).toEqual([]);
  expect((await failureOf(own, ["checkpoint", "--files-only", "web"])).error.code).toBe(
    "SESSION_WRONG_STATE",
  );
  const { undo } = await session.restore("one");
  expect(undo).toBeNull();
  expect((await session.exec("echo $MARK; ls /srv")).stdout).toBe("one\none\n");
});
