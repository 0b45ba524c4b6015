import { expect, test } from "vitest";
import { type FakeEngine, fakeEngine, type Step } from "../../../test/support/fake-engine.ts";
import { checkpointRow, sessionRow } from "../../../test/support/fake-rows.ts";
import { captureAllHeld, captureHeld, releaseHeld, requireCaptured } from "./held-checkpoints.ts";

/** What a restore from a standby has left: the frozen instance `s1-1`. */
const HELD = checkpointRow({
  ...{ id: "held", heldBy: "s1-1", memoryBytes: 0, imagesSums: null },
  stage: "captured",
});

/** An engine with a held checkpoint, whose session runs on as `s1-2`. */
function engineWithHeld() {
  const fake = fakeEngine();
  const { catalog } = fake.engine;
  catalog.insertSession(sessionRow({ instance: "s1-2", instanceCount: 2 }));
  catalog.insertInstance({ id: "s1-1", session: "s1", pid: 60, startTicks: 7 });
  catalog.insertCheckpoint(HELD);
  fake.steps.forget();
  return fake;
}

/** It stands frozen as before, with nothing captured in part. */
function expectHeld({ engine, steps }: FakeEngine) {
  expect(engine.catalog.checkpoint("held")).toMatchObject({ ...HELD, heldWhy: expect.anything() });
  expect(engine.catalog.instance("s1-1")).toMatchObject({ pid: 60 });
  expect(steps.left()).toEqual([]);
  expect(steps.all).not.toContainEqual(
    expect.stringMatching(/^(standbys|stories|freezer|sandbox.kill)/),
  );
}

test("what is held is dumped as it stands, recorded, and is a standby from then on", async () => {
  const fake = engineWithHeld();

  await captureHeld("held", fake.engine);

  expect(fake.steps.all.slice(0, 16)).toEqual([
    "store.deleteCheckpoint held",
    expect.stringMatching(/^memoryImages.makeRoom/),
    expect.stringMatching(/^store.prepareCheckpoint held/),
    "warmMemory.makeWay 4096",
    "limits.liftCpu s1-1",
    "criu.dump s1-1",
    "limits.liftCpu is over",
    "warmMemory.fill",
    "store.images.settle",
    "store.writeManifest held",
    "catalog.updateCheckpoint held",
    "stories.schedule held",
    "connectInit init.sock",
    "standbys.add s1-1",
    "store.images.sum",
    "catalog.updateCheckpoint held",
  ]);
  const captured = { heldBy: null, heldWhy: null, content: "full", memoryBytes: 4096 };
  expect(fake.engine.catalog.checkpoint("held")).toMatchObject(captured);
});

test.each<Step>([
  "store.deleteCheckpoint",
  "sandbox.treeMemoryBytes",
  "memoryImages.makeRoom",
  "store.prepareCheckpoint",
  "limits.liftCpu",
  "criu.dump",
  "store.images.settle",
  "store.writeManifest",
])(
  "a held checkpoint whose %s fails stays held, says why, and leaves nothing half-made",
  async (step) => {
    const fake = engineWithHeld();
    fake.steps.fail(step);

    await expect(captureHeld("held", fake.engine)).rejects.toThrow(`${step} failed`);

    expectHeld(fake);
    expect(fake.engine.catalog.checkpoint("held")?.heldWhy).toContain(`${step} failed`);
  },
);

test("a held checkpoint that cannot be noted as captured stays held", async () => {
  const fake = engineWithHeld();
  fake.steps.fail("catalog.updateCheckpoint", undefined, 1);

  await expect(captureHeld("held", fake.engine)).rejects.toThrow("catalog.updateCheckpoint failed");

  expectHeld(fake);
});

test("a held checkpoint whose processes are gone keeps its files, and nothing of the instance is left", async () => {
  const fake = engineWithHeld();
  fake.steps.answer("sandbox.startTicks", () => null);

  await captureHeld("held", fake.engine);

  const files = { content: "files", heldBy: null, terminal: null };
  expect(fake.engine.catalog.checkpoint("held")).toMatchObject(files);
  expect(fake.engine.catalog.instance("s1-1")).toBeUndefined();
  expect(fake.steps.left()).toEqual(["checkpoint held"]);
  expect(fake.logged).toEqual(["a held checkpoint has lost its processes"]);
});

test.each<Step>([
  "store.prepareCheckpoint",
  "store.snapshotInstance",
  "store.writeManifest",
  "catalog.updateCheckpoint",
])("where %s fails, an instance whose processes are gone keeps its files", async (step) => {
  const fake = engineWithHeld();
  fake.steps.answer("sandbox.startTicks", () => null);
  fake.steps.fail(step);

  await expect(captureHeld("held", fake.engine)).rejects.toThrow(`${step} failed`);

  expect(fake.engine.catalog.checkpoint("held")).toEqual(HELD);
  expect(fake.engine.catalog.instance("s1-1")).toBeDefined();
  expect(fake.steps.left()).toEqual([]);
});

test("a checkpoint that was dumped once is not dumped again", async () => {
  const fake = engineWithHeld();

  await Promise.all([captureHeld("held", fake.engine), requireCaptured(HELD, fake.engine)]);

  expect(fake.steps.all.filter((step) => step === "criu.dump s1-1")).toHaveLength(1);
});

test("at the engine's end what CRIU refuses stays held, and at that of all sessions its files stay", async () => {
  const fake = engineWithHeld();
  fake.steps.fail("criu.dump");

  await captureAllHeld(fake.engine);
  expectHeld(fake);

  await releaseHeld(fake.engine);
  expect(fake.engine.catalog.checkpoint("held")).toMatchObject({ content: "files", heldBy: null });
  expect(fake.engine.catalog.instance("s1-1")).toBeUndefined();
  expect(fake.steps.all).toContain("sandbox.killTree 60 7");
});
