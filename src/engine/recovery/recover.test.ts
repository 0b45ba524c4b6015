import { expect, test } from "vitest";
import type { FakeEngine, Step } from "../../../test/support/fake-engine.ts";
import { checkpointRow, sessionRow } from "../../../test/support/fake-rows.ts";
import { checkpointsOf, engineWithSession, SESSION } from "../../../test/support/fake-session.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { toManifest } from "../checkpoint/index.ts";
import { recover } from "./recover.ts";

/** Above the largest that the kernel gives: no process of this machine has it. */
const PID = 5_000_000;
const STOPPED = sessionRow({ ...{ id: "s2", name: "old", state: "stopped", instance: "s2-1" } });
const LOST = checkpointRow({ id: "c3", parent: "c2", stage: "captured" });

/**
 * Builds what a killed daemon may have left: a session that runs, one whose end was only noted, an
 * instance of no session, a checkpoint without a row, one without a manifest, and images alone.
 */
function afterAKill(): FakeEngine {
  const fake = engineWithSession(SESSION);
  const { engine, steps } = fake;
  engine.live.delete("s1", "s1-1");
  engine.catalog.updateInstance("s1-1", { pid: PID });
  engine.catalog.insertSession(STOPPED);
  engine.catalog.insertInstance({ id: "s2-1", session: "s2" });
  steps.answer("sandbox.isRootMounted", (id: string) => id === "s2-1");
  asKnown(fake);
  steps.answer("store.health.now", () => ({ state: "sound" }));
  steps.answer("store.sessions.readAll", () => []);
  steps.answer("store.listCheckpoints", async () => ["c1", "c2", "c3", "c4"]);
  steps.answer("store.readManifest", (id: string) => (id === "c3" ? toManifest(LOST) : null));
  steps.answer("store.verifications.read", async () => []);
  steps.answer("store.images.list", async () => ["c2", "c5", "c6"]);
  steps.answer("store.listInstances", () => ["s1-1", "s2-1", "s8-1", "s9-1"]);
  steps.answer("network.list", async () => ["s1-1", "s2-1"]);
  steps.answer("limits.list", () => []);
  steps.answer("freezer.list", () => []);
  steps.answer("criu.findRunningCriu", () => []);
  steps.answer("criu.removeStaleMountRoots", async () => {});
  steps.answer("browses.endLeft", async () => {});
  steps.answer("store.snapshots.removeScratch", async () => {});
  steps.forget();
  return fake;
}

/** Its catalog was there before: what the store holds beyond it is what was left. */
function asKnown({ engine }: FakeEngine): void {
  const { catalog } = engine;
  engine.catalog = new Proxy(catalog, {
    get: (target, key) => (key === "isNew" ? false : Reflect.get(target, key)),
  });
}

/** What a step has to do with, each as it is noted when it is done. */
const DONE = {
  criu: "criu.removeStaleMountRoots",
  row: "catalog.insertCheckpoint",
  head: "catalog.updateSession s1",
  half: "store.deleteCheckpoint c4",
  images: "store.deleteCheckpoint c5",
  moreImages: "store.deleteCheckpoint c6",
  durable: "store.makeDurable c3",
  orphan: "store.deleteInstance s8-1",
  otherOrphan: "store.deleteInstance s9-1",
  ended: "network.remove s2-1",
  thaw: "freezer.thaw s1-1",
  live: "newLink.prepareReader",
  standbys: "standbys.refresh",
  browses: "browses.endLeft",
  scratch: "store.snapshots.removeScratch",
};

async function done(fake: FakeEngine): Promise<string[]> {
  await recover(fake.engine);
  await fake.engine.background.idle();
  const known = Object.entries(DONE);
  return known.flatMap(([what, step]) => (fake.steps.all.includes(step) ? [what] : []));
}

test("a daemon finds what the last one left, and makes it whole or removes it", async () => {
  const fake = afterAKill();
  const { catalog, live } = fake.engine;

  expect(await done(fake)).toEqual(Object.keys(DONE));

  expect(catalog.checkpoint("c3")).toMatchObject({ parent: "c2", stage: "durable" });
  expect(catalog.session("s1")).toMatchObject({ state: "running", head: "c3" });
  expect(live.get("s1")).toMatchObject({ instanceId: "s1-1", pid: PID });
  expect(catalog.session("s2")?.state).toBe("stopped");
  expect(fake.steps.all).not.toContain(`sandbox.killTree ${PID} 7`);
  expect(fake.steps.all).not.toContain("store.deleteInstance s2-1");
  expect(fake.logged).toEqual([]);
});

test.each<[Step, string, (keyof typeof DONE)[]]>([
  ["criu.findRunningCriu", "CRIU that was left", ["criu"]],
  ["store.sessions.readAll", "sessions without a row", []],
  [
    ...(["store.listCheckpoints", "checkpoints without a row"] as const),
    ["row", "head", "half", "images", "moreImages", "durable"],
  ],
  [
    ...(["store.images.list", "checkpoints without a row"] as const),
    ["images", "moreImages", "durable"],
  ],
  ["store.listInstances", "instances without a session", ["orphan", "otherOrphan"]],
  ["sandbox.isRootMounted", "sessions that have ended", ["ended"]],
  ["freezer.thaw", "a frozen session", ["thaw"]],
  ["store.verifications.read", "verifications", []],
  ["catalog.forwards", "forwarded ports", []],
  ["browses.endLeft", "browsed moments", ["browses"]],
  ["store.snapshots.removeScratch", "throw-away snapshots", ["scratch"]],
  ["catalog.stories.missing", "stories", []],
])("where %s fails, all that does not need it is done", async (step, what, notDone) => {
  const fake = afterAKill();
  fake.steps.fail(step);

  const found = await done(fake);

  const isDone = (each: string) => !notDone.some((missing) => missing === each);
  expect(found).toEqual(Object.keys(DONE).filter(isDone));
  expect(fake.logged).toContain(`recovery: ${what}`);
  expect(fake.engine.live.get("s1")?.instanceId).toBe("s1-1");
});

test("one checkpoint that cannot be recovered stays in the store, and the others are recovered", async () => {
  const fake = afterAKill();
  fake.steps.answer("store.readManifest", (id: string) => {
    if (id === "c4") throw new Error("damaged");
    return toManifest(LOST);
  });
  fake.steps.answer("store.images.list", async () => ["c4", "c5"]);

  await done(fake);

  expect(fake.logged).toEqual(["checkpoint not recovered"]);
  expect(fake.engine.catalog.checkpoint("c3")).toBeDefined();
  expect(fake.steps.all).not.toContain("store.deleteCheckpoint c4");
  expect(fake.steps.all).toContain("store.deleteCheckpoint c5");
});

test.each<Step>(["catalog.insertCheckpoint", "catalog.updateSession"])(
  "a checkpoint whose %s fails has no row, so that the next daemon finds it again",
  async (step) => {
    const fake = afterAKill();
    fake.steps.fail(step, new Error("disk full"), 1);

    await done(fake);

    expect(fake.engine.catalog.checkpoints()).toEqual(checkpointsOf(SESSION));
    expect(fake.engine.catalog.session("s1")).toEqual(SESSION);
    expect(fake.steps.all).not.toContain("store.deleteCheckpoint c3");
    expect(fake.logged).toContain("checkpoint not recovered");
  },
);

test("where one thing cannot be removed or let go, the others are", async () => {
  const fake = afterAKill();
  const failFirst = (step: Step) => fake.steps.fail(step, new Error("busy"), 1);
  fake.engine.catalog.insertSession(sessionRow({ id: "s0", name: "first", instance: "s0-1" }));
  failFirst("freezer.thaw");
  failFirst("store.deleteInstance");
  fake.steps.answer("store.listCheckpoints", async () => ["c3"]);
  failFirst("store.deleteCheckpoint");

  await done(fake);

  expect(fake.steps.all).toContain("freezer.thaw s1-1");
  expect(fake.steps.all).toContain("store.deleteInstance s9-1");
  expect(fake.steps.all).toContain("store.deleteCheckpoint c6");
  expect(fake.steps.all).toContain("store.makeDurable c3");
  expect(fake.engine.catalog.checkpoint("c3")?.stage).toBe("durable");
});

test("in a store that cannot be read nothing is taken for gone, and sessions go on", async () => {
  const fake = afterAKill();
  fake.steps.answer("store.health.now", () => ({ state: "unusable" }));

  const found = await done(fake);

  expect(found).toEqual(["criu", "ended", "thaw", "live"]);
  expect(fake.engine.catalog.checkpoints()).toEqual(checkpointsOf(SESSION));
});

const DAMAGED = new WaypointError("CHECKPOINT_INCOMPLETE", "Checkpoint c9 is damaged.");

test.each([
  { restarted: true, imagesSums: null, isInStore: true, failure: null, isRemoved: true },
  { restarted: true, imagesSums: "sha256:1", isInStore: true, failure: DAMAGED, isRemoved: true },
  { restarted: true, imagesSums: "sha256:1", isInStore: true, failure: null, isRemoved: false },
  ...[new Error("EIO")].map((failure) => ({
    ...{ restarted: true, imagesSums: "sha256:1", isInStore: true, failure, isRemoved: false },
  })),
  { restarted: true, imagesSums: null, isInStore: false, failure: null, isRemoved: false },
  { restarted: false, imagesSums: null, isInStore: true, failure: null, isRemoved: false },
])("images of which nobody knows that they reached the disk: %o", async (how) => {
  const fake = afterAKill();
  const captured = checkpointRow({ id: "c9", stage: "captured", imagesSums: how.imagesSums });
  fake.engine.catalog.insertCheckpoint(captured);
  fake.engine.store.images.haveLostMemory = how.restarted;
  fake.steps.answer("store.images.isInStore", () => how.isInStore);
  if (how.failure !== null) fake.steps.fail("store.images.requireSound", how.failure);
  const removed: string[] = [];
  fake.steps.answer("store.images.discard", async (paths: { checkpointDir: string }) => {
    removed.push(paths.checkpointDir);
  });

  await done(fake);

  expect(removed.some((directory) => directory.endsWith("c9"))).toBe(how.isRemoved);
});
