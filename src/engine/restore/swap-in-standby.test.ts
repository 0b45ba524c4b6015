import { expect, test } from "vitest";
import type { FakeEngine, Step } from "../../../test/support/fake-engine.ts";
import { checkpointRow } from "../../../test/support/fake-rows.ts";
import { engineWithSession, SESSION, underLease } from "../../../test/support/fake-session.ts";
import { type SwapOptions, swapInStandby } from "./swap-in-standby.ts";

const BEFORE = {
  ...({ trigger: "before-restore", intent: "before", name: null } as const),
  ...{ filesOnly: false, movesHead: false },
};
const RESTORE: SwapOptions = {
  kind: "restore",
  before: BEFORE,
  detail: null,
  agentState: () => null,
};
/** What a restore from a standby has left; it stands frozen as the instance `s1-0`. */
const HELD = checkpointRow({ id: "held", heldBy: "s1-0" });

/** An engine with a standby of the checkpoint `c1`: the instance `s9-1`, which answers as `newLink`. */
function engineWithStandby() {
  const fake = engineWithSession(SESSION);
  const { catalog } = fake.engine;
  catalog.insertInstance({ id: "s9-1", session: "s9", pid: 90, startTicks: 7 });
  catalog.insertCheckpoint(HELD);
  catalog.insertInstance({ id: "s1-0", session: "s1", pid: 60, startTicks: 7 });
  const parked = { instanceId: "s9-1", pid: 90, startTicks: 7, terminalId: 1 };
  fake.steps.answer("standbys.take", () => ({ ...parked, link: fake.engine.connectInit("", {}) }));
  fake.steps.forget();
  return fake;
}

function swap(fake: FakeEngine, target = checkpointRow(), options = RESTORE) {
  return underLease(fake, () => swapInStandby(SESSION, target, options, fake.engine));
}

/** The session runs as it was, and nothing of the swap is recorded. */
function expectAsItWas({ engine, steps }: FakeEngine) {
  expect(engine.catalog.session("s1")).toEqual(SESSION);
  expect(engine.catalog.checkpoints().map(({ id }) => id)).toEqual(["c1", "c2", "held"]);
  expect(engine.catalog.operations.all("s1")).toEqual([]);
  expect(engine.live.get("s1")?.instanceId).toBe("s1-1");
  expect(steps.left()).toEqual([]);
  expect(steps.all).not.toContain("link.end");
}

test("a session is frozen while its standby wakes, and the move is noted in one quick transaction", async () => {
  const fake = engineWithStandby();

  const swapped = await swap(fake);

  expect(fake.steps.all).toEqual([
    "link.quiesce",
    "standbys.take c1",
    "connectInit ",
    "freezer.thaw s9-1",
    "freezer.freeze s1-1 100",
    "catalog.quickTransaction",
    "catalog.insertCheckpoint",
    "catalog.updateCheckpoint c1",
    "catalog.updateSession s1",
    "catalog.operations.insert",
    "sandbox.nameHost 90 web",
    "store.chargeInstance s9-1",
    "newLink.prepareReader",
    "automatic.begin s9-1",
    "link.end",
    "decisions.capture s1-1 id1",
    "contacts.settle s1-1 id1",
  ]);
  expect(swapped).toMatchObject({ live: { instanceId: "s9-1" }, before: { heldBy: "s1-1" } });
});

test.each<Step>([
  "catalog.quickTransaction",
  "catalog.insertCheckpoint",
  "catalog.updateCheckpoint",
  "catalog.updateSession",
  "catalog.operations.insert",
])("a swap whose %s fails ends the standby, and the session runs on", async (step) => {
  const fake = engineWithStandby();
  fake.steps.fail(step);

  await expect(swap(fake)).rejects.toThrow(`${step} failed`);

  expectAsItWas(fake);
  expect(fake.engine.catalog.instance("s9-1")).toBeUndefined();
});

test("a swap whose state cannot be kept ends the standby, and the session runs on", async () => {
  const fake = engineWithStandby();
  const agentState = () => {
    throw new Error("no room for the account");
  };

  const swapped = swap(fake, checkpointRow(), { ...RESTORE, agentState });
  await expect(swapped).rejects.toThrow("no room for the account");

  expectAsItWas(fake);
  expect(fake.engine.catalog.instance("s9-1")).toBeUndefined();
});

test.each<Step>(["link.quiesce", "freezer.freeze", "connectInit"])(
  "a swap whose %s fails leaves the session to the long way, and ends the standby",
  async (step) => {
    const fake = engineWithStandby();
    fake.steps.fail(step);

    expect(await swap(fake)).toBeNull();

    expectAsItWas(fake);
    expect(fake.engine.catalog.instance("s9-1")).toBeUndefined();
  },
);

test("a session runs on where a standby neither wakes nor can be removed", async () => {
  const fake = engineWithStandby();
  fake.steps.fail("connectInit");
  fake.steps.fail("store.deleteInstance");

  expect(await swap(fake)).toBeNull();

  expectAsItWas(fake);
});

test("a session that does not stand still in time is left to the long way", async () => {
  const fake = engineWithStandby();
  fake.steps.answer("freezer.freeze", async () => false);

  expect(await swap(fake)).toBeNull();

  expectAsItWas(fake);
});

test.each([
  ["runs away from it", () => false],
  [
    "cannot be taken into a group",
    () => {
      throw new Error("EPERM");
    },
  ],
])("a session that %s is not touched", async (_, enlist) => {
  const fake = engineWithStandby();
  fake.steps.answer("freezer.holds", () => false);
  fake.steps.answer("standbys.has", () => true);
  fake.steps.answer("freezer.enlist", enlist);

  expect(await swap(fake)).toBeNull();

  expect(fake.steps.all).toEqual(["standbys.has c1", "freezer.enlist s1-1"]);
});

test("a session that no daemon has taken in since it started is, where a standby is ready", async () => {
  const fake = engineWithStandby();
  fake.steps.answer("freezer.holds", () => false);
  fake.steps.answer("standbys.has", () => true);

  expect(await swap(fake)).toMatchObject({ before: { heldBy: "s1-1" } });
});

test("a session is not taken in for nothing", async () => {
  const fake = engineWithStandby();
  fake.steps.answer("freezer.holds", () => false);

  expect(await swap(fake)).toBeNull();

  expect(fake.steps.all).toEqual(["standbys.has c1"]);
});

test("what is held runs on as the session, and keeps its files as the checkpoint", async () => {
  const fake = engineWithStandby();

  const swapped = await swap(fake, HELD);

  const files = { content: "files", heldBy: null, terminal: null };
  expect(fake.steps.all.slice(0, 7)).toEqual([
    "store.deleteCheckpoint held",
    "store.prepareCheckpoint held 0",
    "store.snapshotInstance s1-0 held",
    "store.writeManifest held",
    "link.quiesce",
    "connectInit init.sock",
    "freezer.thaw s1-0",
  ]);
  expect(swapped).toMatchObject({ live: { instanceId: "s1-0", pid: 60 } });
  expect(fake.engine.catalog.checkpoint("held")).toMatchObject(files);
});

test.each<[Step, string[]]>([
  ["store.deleteCheckpoint", []],
  ["store.prepareCheckpoint", []],
  ["store.snapshotInstance", []],
  ["store.writeManifest", []],
  ["catalog.operations.insert", ["frozen s1-0"]],
])("what is held stays so, frozen, where %s fails", async (step, left) => {
  const fake = engineWithStandby();
  fake.steps.fail(step);

  await expect(swap(fake, HELD)).rejects.toThrow(`${step} failed`);

  const { catalog } = fake.engine;
  expect(catalog.checkpoint("held")).toEqual(HELD);
  expect(catalog.instance("s1-0")).toMatchObject({ pid: 60 });
  expect(fake.steps.left()).toEqual(left);
});

test("what is held and does not answer stands still again", async () => {
  const fake = engineWithStandby();
  fake.steps.fail("connectInit");

  expect(await swap(fake, HELD)).toBeNull();

  expect(fake.engine.catalog.checkpoint("held")).toEqual(HELD);
  expect(fake.steps.left()).toEqual(["frozen s1-0"]);
});
