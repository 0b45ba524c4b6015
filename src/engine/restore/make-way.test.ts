import { expect, test } from "vitest";
import type { FakeEngine, Step } from "../../../test/support/fake-engine.ts";
import {
  checkpointsOf,
  engineWithSession,
  ON_HOST,
  underLease,
  WITH_BIND,
} from "../../../test/support/fake-session.ts";
import { type RestoreOptions, restoreCheckpoint } from "./restore-checkpoint.ts";

const RESTORE: RestoreOptions = { kind: "restore", loseProcesses: false, withoutUndo: false };

/** An engine in which the session runs, on a machine without standbys. */
const engineWith = (session = ON_HOST) => engineWithSession(session, { freezer: null });

/** Restores the session to `c1`. */
function restore(
  fake: FakeEngine,
  session = ON_HOST,
  { cancelAt, ...change }: Partial<RestoreOptions> & { cancelAt?: Step } = {},
) {
  const from = { checkpoint: checkpointsOf(session)[0], withoutBinds: false };
  const options = { ...RESTORE, ...change };
  const work = () => restoreCheckpoint(session, from, options, fake.engine);
  return underLease(fake, work, cancelAt);
}

test("what may hold the new processes' ports ends before they are made", async () => {
  const fake = engineWith();

  await restore(fake);

  const { all } = fake.steps;
  const order = [
    "catalog.insertCheckpoint",
    "link.end",
    "sandbox.killTree 70 7",
    "criu.restore s1-2",
  ];
  expect(all.filter((step) => order.includes(step))).toEqual(order);
  expect(fake.engine.catalog.session("s1")).toMatchObject({ instance: "s1-2", head: "c1" });
});

test("what holds a lock in a bound directory ends before the new processes are made", async () => {
  const fake = engineWith(WITH_BIND);
  fake.steps.answer("criu.readLockedFiles", async () => ["/mnt/db.lock"]);

  await restore(fake, WITH_BIND);

  const order = ["sandbox.killTree 70 7", "criu.restore s1-2"];
  expect(fake.steps.all.filter((step) => order.includes(step))).toEqual(order);
});

test.each<Step>([
  "sandbox.unmountRoot",
  "criu.makeWorkDir",
  "store.createInstanceFrom",
  "criu.restore",
  "connectInit",
  "catalog.operations.insert",
])("a session whose processes had to end is brought back where %s fails", async (step) => {
  const fake = engineWith();
  fake.steps.fail(step, undefined, 1);

  await expect(restore(fake)).rejects.toThrow(`${step} failed`);
  await fake.engine.background.idle();

  const { catalog, live } = fake.engine;
  expect(catalog.session("s1")).toMatchObject({
    state: "running",
    instance: "s1-2-rescue",
    head: "c2",
  });
  expect(live.get("s1")?.instanceId).toBe("s1-2-rescue");
  expect(catalog.instances().map(({ id }) => id)).toEqual(["s1-2-rescue"]);
  expect(catalog.checkpoint("id1")).toBeDefined();
  expect(fake.steps.all).toContain("store.createInstanceFrom s1-2-rescue id1");
  expect(fake.steps.left()).toEqual([
    "checkpoint id1",
    "directory s1-2-rescue",
    "files of s1-2-rescue",
    "limits of s1-2-rescue",
    "root of s1-2-rescue",
    expect.stringMatching(/^tree/),
  ]);
});

test.each<Step>(["criu.restore", "connectInit", "catalog.updateInstance"])(
  "a session that cannot be brought back for %s is ended, and keeps its files and their checkpoint",
  async (step) => {
    const fake = engineWith();
    fake.steps.fail(step);

    await expect(restore(fake)).rejects.toThrow(`${step} failed`);
    await fake.engine.background.idle();

    const { catalog, live } = fake.engine;
    expect(catalog.session("s1")).toMatchObject({ state: "ended", instance: "s1-1", head: "c2" });
    expect(live.get("s1")).toBeUndefined();
    expect(catalog.checkpoint("id1")).toBeDefined();
    expect(fake.steps.left()).toEqual(["checkpoint id1"]);
    expect(fake.steps.all).not.toContain("store.deleteInstance s1-1");
    expect(fake.logged).toEqual(["bring a session back"]);
  },
);

test.each([
  ["ports", ON_HOST],
  ["locks", WITH_BIND],
] as const)(
  "a restore is carried out though cancelled once what held %s has ended",
  async (_, session) => {
    const fake = engineWith(session);
    fake.steps.answer("criu.readLockedFiles", async () => ["/mnt/db.lock"]);

    await restore(fake, session, { cancelAt: "sandbox.killTree" });
    await fake.engine.background.idle();

    const { catalog, live } = fake.engine;
    expect(catalog.session("s1")).toMatchObject({ state: "running", instance: "s1-2", head: "c1" });
    expect(live.get("s1")?.instanceId).toBe("s1-2");
    expect(catalog.checkpoint("id1")).toBeDefined();
  },
);

test("a restore that is cancelled and fails once the processes have ended keeps what was captured", async () => {
  const fake = engineWith();
  fake.steps.fail("criu.restore");

  await expect(restore(fake, ON_HOST, { cancelAt: "sandbox.killTree" })).rejects.toThrow(
    "criu.restore failed",
  );
  await fake.engine.background.idle();

  expect(fake.engine.catalog.session("s1")?.state).toBe("ended");
  expect(fake.engine.catalog.checkpoint("id1")).toBeDefined();
});
