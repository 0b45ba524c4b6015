import { expect, test } from "vitest";
import { type FakeEngine, fakeEngine, type Step } from "../../../test/support/fake-engine.ts";
import { checkpointRow, sessionRow } from "../../../test/support/fake-rows.ts";
import { forkCheckpoint } from "./fork-checkpoint.ts";

const CHECKPOINT = checkpointRow();
const PARKED = { instanceId: "s9-1", pid: 90, startTicks: 7, terminalId: 1 };

/** An engine in which a session has a checkpoint. */
function engineWithCheckpoint() {
  const fake = fakeEngine();
  fake.engine.catalog.insertSession(sessionRow({ head: "c1" }));
  fake.engine.catalog.insertCheckpoint(CHECKPOINT);
  fake.steps.forget();
  return fake;
}

function fork({ engine }: FakeEngine, change: { count?: number; pids?: number | null } = {}) {
  const options = { count: 1, name: "copy", withoutBinds: false, ...change };
  return forkCheckpoint(CHECKPOINT, options, engine);
}

/** Gives the checkpoint a standby, once: the instance `s9-1`. */
function park({ engine, steps }: FakeEngine) {
  engine.catalog.insertInstance({ id: "s9-1", session: "s9", pid: 90, startTicks: 7 });
  steps.answer("standbys.has", () => true);
  steps.answer("standbys.take", () => ({ ...PARKED, link: engine.connectInit("", {}) }));
  steps.forget();
}

function expectNoFork({ engine, steps }: FakeEngine) {
  expect(steps.left()).toEqual([]);
  expect(engine.catalog.sessions().map(({ id }) => id)).toEqual(["s1"]);
  expect(engine.catalog.instances()).toEqual([]);
  expect(engine.live.all()).toEqual([]);
}

test("a fork is built, answers, and is recorded as a session of its own", async () => {
  const fake = engineWithCheckpoint();

  const { forks } = await fork(fake);

  expect(fake.steps.all).toEqual([
    "standbys.has c1",
    "limits.prepareToEnter",
    "store.space.requireRoom fork a checkpoint",
    "standbys.take c1",
    "catalog.insertInstance",
    "criu.makeWorkDir id1-1",
    "store.images.hold",
    "store.images.requireUndamaged",
    "limits.prepareToEnter",
    "store.createInstanceFrom id1-1 c1",
    "network.createNamespace id1-1",
    "limits.create id1-1",
    "sandbox.mountRoot id1-1",
    "criu.restore id1-1",
    "tree 101 runs",
    "limits.apply id1-1",
    "limits.prepareToEnter is over",
    "store.images.hold is over",
    "limits.liftCpu id1-1",
    "catalog.updateInstance id1-1",
    "connectInit init.sock",
    "limits.liftCpu is over",
    "effects.copy s1 id1",
    "catalog.transaction",
    "catalog.insertSession",
    "catalog.operations.insert",
    "sandbox.nameHost 101 copy",
    "store.chargeInstance id1-1",
    "newLink.prepareReader",
    "automatic.begin id1-1",
    "limits.prepareToEnter is over",
  ]);
  expect(forks).toMatchObject([{ id: "id1", name: "copy", head: "c1", forkedFrom: "c1" }]);
  expect(fake.engine.live.get("id1")).toMatchObject({ instanceId: "id1-1", pid: 101 });
  expect(fake.engine.catalog.session("s1")).toEqual(sessionRow({ head: "c1" }));
});

test.each<Step>([
  "limits.prepareToEnter",
  "store.requireKnown",
  "store.space.requireRoom",
  "criu.makeWorkDir",
  "store.images.hold",
  "store.images.requireUndamaged",
  "network.createNamespace",
  "store.createInstanceFrom",
  "limits.create",
  "sandbox.mountRoot",
  "criu.restore",
  "limits.apply",
  "connectInit",
  "effects.copy",
  "catalog.insertSession",
  "catalog.operations.insert",
])("a fork whose %s fails leaves nothing", async (step) => {
  const fake = engineWithCheckpoint();
  fake.steps.fail(step);

  await expect(fork(fake)).rejects.toThrow(`${step} failed`);

  expectNoFork(fake);
});

test("when one of several forks fails none of them is left", async () => {
  const fake = engineWithCheckpoint();
  fake.steps.fail("criu.restore", undefined, 1);

  await expect(fork(fake, { count: 3 })).rejects.toThrow("criu.restore failed");

  expectNoFork(fake);
});

test("a fork that cannot be removed hides neither why another failed, nor keeps the others", async () => {
  const fake = engineWithCheckpoint();
  fake.steps.fail("catalog.operations.insert", undefined, 1);
  fake.steps.fail("store.shares.sweepSoon", undefined, 1);

  const failing = fork(fake, { count: 3 });

  await expect(failing).rejects.toMatchObject({
    suppressed: expect.objectContaining({ message: "catalog.operations.insert failed" }),
  });
  expectNoFork(fake);
});

test("a fork takes a standby, which is recorded quickly", async () => {
  const fake = engineWithCheckpoint();
  park(fake);

  const { forks } = await fork(fake);

  expect(forks).toMatchObject([{ id: "s9", instance: "s9-1" }]);
  expect(fake.steps.all).toContain("catalog.quickTransaction");
  expect(fake.steps.all).not.toContain("store.createInstanceFrom s9-1 c1");
  expect(fake.steps.all).not.toContain("limits.prepareToEnter");
});

test.each<Step>(["catalog.quickTransaction", "catalog.insertSession"])(
  "a fork of a standby whose %s fails leaves nothing",
  async (step) => {
    const fake = engineWithCheckpoint();
    park(fake);
    fake.steps.fail(step);

    await expect(fork(fake)).rejects.toThrow(`${step} failed`);

    expectNoFork(fake);
    expect(fake.steps.all).toContain("sandbox.killTree 90 7");
  },
);

test("a standby that does not answer is removed, and the fork is built", async () => {
  const fake = engineWithCheckpoint();
  park(fake);
  fake.steps.fail("connectInit", undefined, 1);

  const { forks } = await fork(fake);

  expect(forks).toMatchObject([{ id: "id1" }]);
  expect(fake.engine.catalog.instances().map(({ id }) => id)).toEqual(["id1-1"]);
});

test("a fork with other limits than its checkpoint takes no standby", async () => {
  const fake = engineWithCheckpoint();
  park(fake);

  const { forks } = await fork(fake, { pids: 100 });

  expect(forks).toMatchObject([{ id: "id1", pidsLimit: 100 }]);
  expect(fake.steps.all).not.toContain("standbys.take c1");
});

test("forks of what used the host's network are refused before anything is begun", async () => {
  const fake = engineWithCheckpoint();
  const options = { count: 1, withoutBinds: false };

  const refused = forkCheckpoint({ ...CHECKPOINT, net: "host" }, options, fake.engine);

  await expect(refused).rejects.toMatchObject({ code: "FORK_REFUSED" });
  expect(fake.steps.all).toEqual([]);
});
