import { expect, test } from "vitest";
import type { FakeEngine, Step } from "../../../test/support/fake-engine.ts";
import {
  checkpointsOf,
  engineWithSession,
  SESSION,
  underLease,
  WITH_BIND,
} from "../../../test/support/fake-session.ts";
import { type RestoreOptions, restoreCheckpoint } from "./restore-checkpoint.ts";

const RESTORE: RestoreOptions = { kind: "restore", loseProcesses: false, withoutUndo: false };

/** An engine in which the session runs, on a machine without standbys. */
const engineWith = (session = SESSION) => engineWithSession(session, { freezer: null });

/** Restores the session to `c1`. */
function restore(
  fake: FakeEngine,
  session = SESSION,
  { cancelAt, ...change }: Partial<RestoreOptions> & { cancelAt?: Step } = {},
) {
  const from = { checkpoint: checkpointsOf(session)[0], withoutBinds: false };
  const options = { ...RESTORE, ...change };
  const work = () => restoreCheckpoint(session, from, options, fake.engine);
  return underLease(fake, work, cancelAt);
}

const BEFORE = [
  "store.space.flushIfDirty keeping",
  "contacts.settle s1-1",
  expect.stringMatching(/^memoryImages.makeRoom/),
  expect.stringMatching(/^store.prepareCheckpoint id1/),
  "warmMemory.makeWay 4096",
  "link.quiesce",
  "limits.liftCpu s1-1",
  "criu.dump s1-1",
  "limits.liftCpu is over",
  "warmMemory.fill",
  "store.images.settle",
  "warmMemory.note s1 4096",
  "link.resume",
  "store.writeManifest id1",
  "catalog.transaction",
  "catalog.insertCheckpoint",
  "decisions.capture s1-1 id1",
  "contacts.capture",
  "stories.schedule id1",
];
const NEW_INSTANCE = [
  "catalog.updateSession s1",
  "catalog.insertInstance",
  "criu.makeWorkDir s1-2",
  "store.images.hold",
  "store.images.requireUndamaged",
  "limits.prepareToEnter",
  "store.createInstanceFrom s1-2 c1",
  "network.createNamespace s1-2",
  "limits.create s1-2",
  "sandbox.mountRoot s1-2",
  "criu.restore s1-2",
  "tree 101 runs",
  "limits.apply s1-2",
  "limits.prepareToEnter is over",
  "store.images.hold is over",
  "limits.liftCpu s1-2",
  "catalog.updateInstance s1-2",
  "connectInit init.sock",
  "limits.liftCpu is over",
];
const SWAP = [
  "catalog.transaction",
  "catalog.updateSession s1",
  "catalog.operations.insert",
  "sandbox.nameHost 101 web",
  "store.chargeInstance s1-2",
  "newLink.prepareReader",
  "automatic.begin s1-2",
  "link.end",
  "sandbox.haltTree 70 7",
];
const REMOVAL = [
  "sandbox.killTree 70 7",
  "criu.endPagesServer s1-1",
  "catalog.updateInstance s1-1",
  "sandbox.unmountRoot s1-1",
  "forwards.closeAllIn s1-1",
  "contacts.settle s1-1",
  "network.remove s1-1",
  "contacts.forgetInstance s1-1",
  "limits.remove s1-1",
  "store.deleteInstance s1-1",
  "criu.removeWorkDir s1-1",
  "catalog.deleteInstance s1-1",
];

/** Returns the steps that are among the wanted ones, each as often as it comes in its turn. */
function inOrder(all: readonly string[], wanted: readonly unknown[]): string[] {
  const found: string[] = [];
  for (const step of all) {
    if (isStep(step, wanted[found.length])) found.push(step);
  }
  return found;
}

/** Puts the step that fits in the place of a pattern. */
function inWords(all: readonly string[]) {
  return (wanted: unknown) => all.find((step) => isStep(step, wanted)) ?? wanted;
}

function isStep(step: string, wanted: unknown): boolean {
  if (typeof wanted === "string" || wanted === undefined) return step === wanted;
  return (wanted as { asymmetricMatch(step: string): boolean }).asymmetricMatch(step);
}

/** The session runs on as it was, and nothing of the new instance is left. */
function expectAsItWas({ engine, steps }: FakeEngine, left = ["checkpoint id1"]) {
  expect(steps.left()).toEqual(left);
  expect(engine.catalog.session("s1")).toMatchObject({
    state: "running",
    instance: "s1-1",
    head: "c2",
  });
  expect(engine.catalog.instances().map(({ id }) => id)).toEqual(["s1-1"]);
  expect(engine.catalog.operations.all("s1")).toEqual([]);
  expect(engine.live.get("s1")?.instanceId).toBe("s1-1");
  expect(steps.all).not.toContain("sandbox.haltTree 70 7");
  expect(steps.all).not.toContain("sandbox.killTree 70 7");
  expect(steps.all).not.toContain("link.end");
}

test("a restore captures what is there, makes the new instance, and ends the old one once that answers", async () => {
  const fake = engineWith();
  const { background, catalog, live } = fake.engine;
  const later = Promise.withResolvers<void>();
  void background.run("sums:id1", () => later.promise);

  const restored = await restore(fake);
  later.resolve();
  await background.idle();

  const { all } = fake.steps;
  const swapAt = all.lastIndexOf("catalog.transaction", all.indexOf("catalog.operations.insert"));
  // Both at once, each in its order; then the swap.
  const both = all.slice(0, swapAt);
  expect(both.toSorted()).toEqual([...BEFORE, ...NEW_INSTANCE].map(inWords(both)).toSorted());
  for (const steps of [BEFORE, NEW_INSTANCE]) expect(inOrder(both, steps)).toEqual(steps);
  expect(all.slice(swapAt, swapAt + SWAP.length)).toEqual(SWAP);
  expect(all.slice(swapAt).filter((step) => REMOVAL.includes(step))).toEqual(REMOVAL);
  expect(restored).toMatchObject({ checkpoint: "c1", undo: "id1", undoContent: "full", pid: 101 });
  expect(catalog.session("s1")).toMatchObject({ instance: "s1-2", head: "c1", instanceCount: 2 });
  expect(catalog.instances()).toMatchObject([{ id: "s1-2", pid: 101 }]);
  expect(catalog.operations.all("s1")).toMatchObject([{ kind: "restore", undo: "id1" }]);
  expect(live.get("s1")?.instanceId).toBe("s1-2");
});

test.each<Step>([
  "criu.makeWorkDir",
  "store.images.hold",
  "store.images.requireUndamaged",
  "limits.prepareToEnter",
  "criu.readImageSockets",
  "network.planSockets",
  "network.createNamespace",
  "store.createInstanceFrom",
  "limits.create",
  "sandbox.mountRoot",
  "criu.restore",
  "limits.apply",
  "sandbox.startTicks",
  "catalog.updateInstance",
  "connectInit",
  "catalog.operations.insert",
])("a restore whose %s fails leaves the session as it was", async (step) => {
  const fake = engineWith();
  fake.steps.fail(step, undefined, 1);

  await expect(restore(fake)).rejects.toThrow(`${step} failed`);
  await fake.engine.background.idle();

  expectAsItWas(fake);
});

test("a restore whose state cannot be kept leaves the session as it was", async () => {
  const fake = engineWith();
  const agentState = () => {
    throw new Error("no room for the account");
  };

  await expect(restore(fake, SESSION, { agentState })).rejects.toThrow("no room for the account");
  await fake.engine.background.idle();

  expectAsItWas(fake);
});

test.each<Step>([
  "store.space.flushIfDirty",
  "link.quiesce",
  "criu.dump",
  "store.writeManifest",
  "catalog.insertCheckpoint",
])("a restore whose %s fails has nothing to undo, and leaves nothing", async (step) => {
  const fake = engineWith();
  fake.steps.fail(step);

  await expect(restore(fake)).rejects.toThrow(`${step} failed`);

  expectAsItWas(fake, []);
  expect(fake.engine.catalog.checkpoints().map(({ id }) => id)).toEqual(["c1", "c2"]);
});

test("images that are not there end a restore before anything is begun", async () => {
  const fake = engineWith();
  fake.steps.fail("store.images.locate");

  await expect(restore(fake)).rejects.toThrow("store.images.locate failed");

  expectAsItWas(fake, []);
  expect(fake.steps.all).not.toContain("catalog.insertInstance");
});

test("processes alone are built once what is there has been captured", async () => {
  const fake = engineWith();

  await restore(fake, SESSION, { only: "processes" });

  const { all } = fake.steps;
  expect(all.indexOf("catalog.insertInstance")).toBeGreaterThan(all.indexOf("link.resume"));
});

test.each<Step>(["criu.dump", "store.createInstanceFrom", "criu.restore", "connectInit"])(
  "a restore that is cancelled during %s leaves nothing, not even what was captured first",
  async (step) => {
    const fake = engineWith();

    await expect(restore(fake, SESSION, { cancelAt: step })).rejects.toMatchObject({
      code: "CANCELLED",
    });
    await fake.engine.background.idle();

    expectAsItWas(fake, []);
    expect(fake.engine.catalog.checkpoints().map(({ id }) => id)).toEqual(["c1", "c2"]);
  },
);

test("a restored session runs on though the old instance cannot be removed; that is logged", async () => {
  const fake = engineWith();
  fake.steps.fail("sandbox.unmountRoot");

  await restore(fake);
  await fake.engine.background.idle();

  expect(fake.engine.live.get("s1")?.instanceId).toBe("s1-2");
  expect(fake.logged).toEqual(["remove an old instance"]);
  // The next daemon finds it by its row.
  expect(fake.engine.catalog.instance("s1-1")).toBeDefined();
});

test("processes alone are put on the files of now", async () => {
  const fake = engineWith();

  await restore(fake, SESSION, { only: "processes" });

  expect(fake.steps.all).toContain("store.createInstanceFrom s1-2 id1");
  expect(fake.steps.all).toContain("store.takeOwnFiles s1-2 c1");
  expect(fake.engine.catalog.session("s1")?.head).toBe("id1");
});

test("a restore that keeps nothing for undo captures nothing", async () => {
  const fake = engineWith();

  const restored = await restore(fake, SESSION, { withoutUndo: true });
  await fake.engine.background.idle();

  expect(restored).toMatchObject({ undo: null, undoContent: null });
  expect(fake.engine.catalog.checkpoints().map(({ id }) => id)).toEqual(["c1", "c2"]);
  expect(fake.steps.all).not.toContain("criu.dump s1-1");
});

test("a directory of the host that is gone ends a restore before anything is begun", async () => {
  const fake = engineWith(WITH_BIND);
  fake.steps.answer("sandbox.isBindPresent", () => false);

  await expect(restore(fake, WITH_BIND)).rejects.toMatchObject({ code: "BIND_SOURCE_MISSING" });

  expect(fake.steps.all).toEqual([]);
});
