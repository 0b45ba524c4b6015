import { expect, test } from "vitest";
import { type FakeEngine, fakeEngine, type Step } from "../../../test/support/fake-engine.ts";
import { checkpointRow, sessionRow } from "../../../test/support/fake-rows.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { buildFreshInstance, buildInstanceFrom, endInstance, removeInstance } from "./instance.ts";

const LARGE = checkpointRow({ memoryBytes: 1024 ** 3 });
const NAT = sessionRow({ net: "nat" });
const ON_HOST = sessionRow({ net: "host" });

type Hold = { beforeResume?: { run: () => Promise<void> } };

/** An engine on which a large checkpoint is restored lazily; CRIU holds its programs back as asked. */
function engineWithLarge() {
  const fake = fakeEngine();
  fake.engine.catalog.insertSession(NAT);
  fake.engine.catalog.insertCheckpoint(LARGE);
  fake.engine.settings.lazyBytesMin = 1024;
  const memory = { totalBytes: 4096, largestBytes: 4096, longestRangeBytes: 4096 };
  fake.steps.answer("criu.measureMemory", async () => memory);
  fake.steps.answer("criu.restore", async ({ beforeResume }: Hold) => {
    await beforeResume?.run();
    fake.steps.note("tree 101 runs");
    return { pid: 101 };
  });
  fake.steps.forget();
  return fake;
}

function build({ engine }: FakeEngine, session = NAT) {
  return buildInstanceFrom(session, "s1-2", { checkpoint: LARGE, withoutBinds: false }, engine);
}

function expectNothing({ engine, steps }: FakeEngine) {
  expect(steps.left().filter((what) => what !== "tree 101")).toEqual([]);
  expect(engine.catalog.instances()).toEqual([]);
}

test("programs of a large checkpoint run when their network is as it was; memory comes later", async () => {
  const fake = engineWithLarge();
  fake.steps.answer("network.planSockets", () => ({}));

  const live = await build(fake);

  const said = /^(network|criu.start|criu.restore|tree)/;
  expect(fake.steps.all.filter((step) => said.test(step))).toEqual([
    "network.createNamespace s1-2",
    "network.connect s1-2",
    "criu.startPagesServer s1-2",
    "criu.restore s1-2",
    "network.release s1-2",
    "tree 101 runs",
  ]);
  expect(live).toMatchObject({ instanceId: "s1-2", pid: 101, startTicks: 7, terminalId: 1 });
  expect(fake.engine.catalog.instance("s1-2")).toMatchObject({ pid: 101, fillingFrom: "c1" });
});

test("where memory cannot be served it is restored at once, and that is logged", async () => {
  const fake = engineWithLarge();
  fake.steps.fail("criu.startPagesServer");

  await build(fake);

  expect(fake.engine.catalog.instance("s1-2")).toMatchObject({ pid: 101, fillingFrom: null });
  expect(fake.logged).toEqual(["restored at once instead of lazily"]);
});

test("where the pages server dies during a restore all is made once more, whole this time", async () => {
  const fake = engineWithLarge();
  fake.steps.fail("criu.restore", undefined, 1);
  fake.steps.answer("criu.pagesState", () => ({ kind: "lost", reason: "killed" }));

  await build(fake);

  const made = /^(criu.start|criu.restore|store.createI|store.deleteI)/;
  expect(fake.steps.all.filter((step) => made.test(step))).toEqual([
    "store.createInstanceFrom s1-2 c1",
    "criu.startPagesServer s1-2",
    "criu.restore s1-2 fails",
    "store.deleteInstance s1-2",
    "store.createInstanceFrom s1-2 c1",
    "criu.restore s1-2",
  ]);
});

test("a restore that CRIU refuses is not tried again", async () => {
  const fake = engineWithLarge();
  fake.steps.fail("criu.restore", undefined, 1);

  await expect(build(fake)).rejects.toThrow("criu.restore failed");

  expectNothing(fake);
});

test.each<Step>([
  "network.planSockets",
  "network.takeSpare",
  "network.createNamespace",
  "network.connect",
  "network.release",
  "store.images.requireUndamaged",
  "connectInit",
])("a large checkpoint on a network whose %s fails leaves nothing", async (step) => {
  const fake = engineWithLarge();
  if (step !== "network.takeSpare") fake.steps.answer("network.planSockets", () => ({}));
  fake.steps.fail(step);

  await expect(build(fake)).rejects.toThrow(`${step} failed`);

  expectNothing(fake);
});

test("nothing is removed while a link is still being made", async () => {
  const fake = engineWithLarge();
  const connecting = Promise.withResolvers<object>();
  fake.steps.answer("network.connect", () => connecting.promise);
  fake.steps.fail("store.createInstanceFrom");

  const failing = build(fake);
  await expect.poll(() => fake.steps.all).toContain("store.images.hold is over");
  fake.steps.note("the link is there");
  connecting.resolve({});

  await expect(failing).rejects.toThrow("store.createInstanceFrom failed");
  const order = ["the link is there", "network.remove s1-2"];
  expect(fake.steps.all.filter((step) => order.includes(step))).toEqual(order);
});

test("sockets on the host's network are held back until the programs are there", async () => {
  const fake = engineWithLarge();
  fake.steps.answer("network.planSocketsOnHost", () => ({}));

  await build(fake, ON_HOST);

  const order = ["network.prepareOnHost s1-2", "criu.restore s1-2", "network.releaseOnHost s1-2"];
  expect(fake.steps.all.filter((step) => order.includes(step))).toEqual(order);
});

const IN_MEMORY = { imagesDir: "/memory/c1", image: "pages-1.img" };
const damaged = (detail: Record<string, unknown>) =>
  new WaypointError("CHECKPOINT_INCOMPLETE", "It is damaged.", { detail });

test("images that are damaged in memory are dropped for those in the store", async () => {
  const fake = engineWithLarge();
  fake.steps.fail("store.images.requireUndamaged", damaged(IN_MEMORY), 1);

  await build(fake);

  const order = ["store.deleteInstance s1-2", "store.images.drop", "criu.restore s1-2"];
  expect(fake.steps.all.filter((step) => order.includes(step))).toEqual(order);
  expect(fake.logged).toEqual(["images in memory are damaged; those in the store are used"]);
});

test.each([
  ["what is in memory alone", IN_MEMORY, false],
  ["what is in the store", { ...IN_MEMORY, imagesDir: "/checkpoints/c1/images" }, true],
  ["the sums", { ...IN_MEMORY, image: "images.sums" }, true],
])("where %s is damaged nothing is restored, dropped or left", async (_, detail, isInStore) => {
  const fake = engineWithLarge();
  fake.steps.fail("store.images.requireUndamaged", damaged(detail));
  fake.steps.answer("store.images.isInStore", () => isInStore);

  await expect(build(fake)).rejects.toMatchObject({ code: "CHECKPOINT_INCOMPLETE" });

  expectNothing(fake);
  expect(fake.steps.all).not.toContain("store.images.drop");
});

const SHELL = { env: {}, columns: 80, rows: 24, withoutBinds: false, filesFrom: null };

test("a fresh instance has files, network and limits before its first process, and a shell then", async () => {
  const fake = fakeEngine();

  const live = await buildFreshInstance(NAT, "s1-2", SHELL, fake.engine);

  expect(fake.steps.all).toEqual([
    "catalog.insertInstance",
    "criu.makeWorkDir s1-2",
    "limits.prepareToEnter",
    "store.createInstance s1-2 0",
    "sandbox.prepareUpper",
    "network.create s1-2 nat",
    "limits.create s1-2",
    "limits.apply s1-2",
    "sandbox.mountRoot s1-2",
    "limits.liftCpu s1-2",
    "sandbox.launchInit",
    "tree 101 runs",
    "catalog.updateInstance s1-2",
    "connectInit init.sock",
    "newLink.openTerminal",
    "limits.liftCpu is over",
    "limits.prepareToEnter is over",
  ]);
  expect(live).toMatchObject({ pid: 101, terminalId: 1 });
});

test.each<Step>([
  "criu.makeWorkDir",
  "limits.prepareToEnter",
  "store.createInstance",
  "sandbox.prepareUpper",
  "network.create",
  "limits.create",
  "limits.apply",
  "sandbox.mountRoot",
  "limits.liftCpu",
  "sandbox.launchInit",
  "catalog.updateInstance",
  "connectInit",
  "newLink.openTerminal",
])("a fresh instance whose %s fails leaves nothing", async (step) => {
  const fake = fakeEngine();
  fake.steps.fail(step, undefined, 1);

  await expect(buildFreshInstance(NAT, "s1-2", SHELL, fake.engine)).rejects.toThrow();

  expect(fake.steps.left()).toEqual([]);
  expect(fake.engine.catalog.instances()).toEqual([]);
});

test("an instance that ends keeps its files and its row, one that is removed nothing", async () => {
  const fake = fakeEngine();
  await buildFreshInstance(NAT, "s1-2", SHELL, fake.engine);

  await endInstance("s1-2", fake.engine);
  expect(fake.steps.left()).toEqual(["directory s1-2", "files of s1-2"]);
  expect(fake.engine.catalog.instance("s1-2")).toMatchObject({ pid: null });

  await removeInstance("s1-2", fake.engine);
  expect(fake.steps.left()).toEqual([]);
  expect(fake.engine.catalog.instances()).toEqual([]);
});

test.each<Step>([
  "sandbox.killTree",
  "criu.endPagesServer",
  "sandbox.unmountRoot",
  "network.remove",
  "limits.remove",
  "store.deleteInstance",
])(
  "an instance whose removal fails at %s is found by its row, and removed the next time",
  async (step) => {
    const fake = fakeEngine();
    await buildFreshInstance(NAT, "s1-2", SHELL, fake.engine);
    fake.steps.fail(step, undefined, 1);

    await expect(removeInstance("s1-2", fake.engine)).rejects.toThrow(`${step} failed`);
    expect(fake.engine.catalog.instance("s1-2")).toBeDefined();

    await removeInstance("s1-2", fake.engine);
    expect(fake.steps.left()).toEqual([]);
  },
);
