import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { failureOf } from "../support/failing-command.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { readWholeState } from "../support/whole-state.ts";

const STORE_BYTES = 400 * 1024 ** 2;
const FILL = "dd if=/dev/zero of=/srv/fill bs=1M status=none 2>&1; sync";

let own: TestWaypoint;
let session: Session;
let good: Checkpoint;

beforeAll(async () => {
  own = await openTestWaypoint({ storeBytes: STORE_BYTES });
  session = await own.waypoint.new({ name: "web", diskBytes: STORE_BYTES });
  await session.exec("cd /srv; export MARK=kept; sleep 1000 &");
  good = await session.checkpoint({ name: "good", durable: true });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

test("in a full store nothing begins, nothing half-made is left, and the session lives", async () => {
  const { stdout } = await session.exec(FILL);
  expect(stdout).toContain("Disk quota exceeded");
  const before = await readWholeState(own);

  const failures = [
    await failureOf(own, ["checkpoint", "web"]),
    await failureOf(own, ["checkpoint", "web", "--files-only"]),
    await failureOf(own, ["new", "more"]),
    await failureOf(own, ["fork", "good"]),
    await failureOf(own, ["fork", "good", "-n", "3"]),
  ];

  for (const { error, exitCode } of failures) {
    expect({ code: error.code, exitCode }).toEqual({ code: "STORE_FULL", exitCode: 20 });
    expect(error.message).toMatch(/^The store has no room left to [a-z ]+\.$/);
    expect(error.hint).toContain("waypoint rm NAME");
  }
  expect(await readWholeState(own)).toEqual(before);
  const alive = await session.exec("pgrep -x sleep | wc -l", { shell: "own" });
  expect(alive.stdout).toBe("1\n");
});

test("the live shell needs a little room, and says what needs none", async () => {
  const failure = await failureOf(own, ["exec", "web", "--", "true"]);

  expect({ code: failure.error.code, exitCode: failure.exitCode }).toEqual({
    code: "STORE_FULL",
    exitCode: 125,
  });
  expect(failure.error.hint).toContain("--shell own");
});

test("when space is freed inside, everything works again at once", async () => {
  await session.exec("rm /srv/fill", { shell: "own" });

  const { stdout } = await session.exec("echo $PWD $MARK; jobs %1");
  const checkpoint = await session.checkpoint({ durable: true });
  await own.waypoint.new({ name: "more" });
  const [fork] = await good.fork();
  const restored = await session.restore(good);

  expect(stdout).toMatch(/^\/srv kept\n.*sleep 1000/);
  expect(checkpoint.info.stage).toBe("durable");
  expect((await fork?.exec("echo $MARK"))?.stdout).toBe("kept\n");
  expect(restored.undo).not.toBeNull();
  expect((await session.undo()).checkpoint).toBe(restored.undo);
});

test("when a session that filled the store is removed, there is room for the next at once", async () => {
  const greedy = await own.waypoint.new({ name: "greedy", diskBytes: STORE_BYTES });
  await greedy.exec(FILL);
  expect((await failureOf(own, ["new", "next"])).error.code).toBe("STORE_FULL");

  await greedy.remove({ force: true });

  await (await own.waypoint.new({ name: "next" })).remove({ force: true });
});

test("a session that fills the store can be put back, undone, stopped and started again", async () => {
  await session.restore(good, { withoutUndo: true });
  expect((await session.exec("ls /srv; echo $MARK")).stdout).toBe("kept\n");

  await session.exec(FILL);
  await session.restore(good);
  await session.undo();
  expect((await session.exec("ls /srv", { shell: "own" })).stdout).toBe("fill\n");

  await session.stop();
  await session.restore(good, { withoutUndo: true });
  expect((await session.exec("ls /srv", { shell: "own" })).stdout).toBe("");
});

test("the daemon ends with all sessions also when the store is full", async () => {
  const full = await openTestWaypoint({ storeBytes: STORE_BYTES });
  const greedy = await full.waypoint.new({ diskBytes: STORE_BYTES });
  await greedy.exec(FILL);
  const pid = await full.daemonPid();

  await full[Symbol.asyncDispose]();

  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});
