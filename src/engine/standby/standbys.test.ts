import { afterEach, expect, test } from "vitest";
import type { FakeEngine, Step } from "../../../test/support/fake-engine.ts";
import { checkpointsOf, engineWithSession, SESSION } from "../../../test/support/fake-session.ts";
import { Standbys } from "./standbys.ts";

const ENOUGH_BYTES = 1024 ** 3;
const ELEVEN_MINUTES_MS = 11 * 60_000;

const open: Standbys[] = [];

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** Keeps standbys of a running session's newest checkpoints, on a machine that has room for them. */
function keep(policy: "head" | "2", { budgetBytes = ENOUGH_BYTES, session = SESSION } = {}) {
  const fake = engineWithSession(session);
  const { engine, steps } = fake;
  engine.settings.standby = { policy, budgetBytes, reserveBytes: 0 };
  let looks = 0;
  steps.answer("store.space.usage", () => {
    looks += 1;
    return { freeBytes: ENOUGH_BYTES };
  });
  steps.answer("connectInit", () => new Promise(() => {}));
  const standbys = new Standbys(engine);
  engine.standbys = standbys;
  open.push(standbys);
  const kept = async (count: number) => {
    standbys.refresh();
    await expect.poll(() => standbys.status().count, { timeout: 10_000 }).toBe(count);
  };
  /** Has the pool gone through all that is wanted: the second time begins when the first has ended. */
  const keptAnew = async () => {
    for (const looksBefore of [looks, looks + 1]) {
      standbys.refresh();
      await expect.poll(() => looks, { timeout: 10_000 }).toBeGreaterThan(looksBefore);
    }
  };
  const parked = () => ["c1", "c2"].filter((id) => standbys.has(id));
  return { ...fake, standbys, kept, keptAnew, parked };
}

/** Has everything of the machine gone that was parked, and is the session as it was? */
function expectNoneLeft({ engine, steps }: FakeEngine) {
  expect(steps.left()).toEqual([]);
  expect(engine.catalog.instances().map(({ id }) => id)).toEqual(["s1-1"]);
  expectUntouched(engine);
}

function expectUntouched({ catalog, live }: FakeEngine["engine"]) {
  expect(catalog.session("s1")).toEqual(SESSION);
  expect(catalog.checkpoints()).toEqual(checkpointsOf(SESSION));
  expect(live.get("s1")?.instanceId).toBe("s1-1");
}

test("a standby is noted, restored frozen, and called", async () => {
  const { engine, steps, standbys, kept, logged } = keep("head");

  await kept(1);

  const order = /^(catalog.insert|store.create|freezer.make|tree|catalog.update|connect)/;
  expect(steps.all.filter((step) => order.test(step))).toEqual([
    ...["catalog.insertInstance", "freezer.makeFrozen id1-1", "store.createInstanceFrom id1-1 c2"],
    ...["tree 101 runs", "catalog.updateInstance id1-1", "connectInit init.sock"],
  ]);
  expect(standbys.has("c2")).toBe(true);
  expect(standbys.status()).toEqual({ count: 1, memoryBytes: 4096, reason: null });
  expect(engine.catalog.instance("id1-1")).toMatchObject({ pid: 101, session: "id1" });
  expect(logged).toEqual([]);
});

test.each<Step>([
  ...(["catalog.insertInstance", "criu.makeWorkDir", "store.createInstanceFrom"] as const),
  ...(["limits.prepareToEnter", "network.createNamespace", "limits.create"] as const),
  ...(["freezer.makeFrozen", "sandbox.mountRoot", "criu.restore"] as const),
  ...(["catalog.updateInstance", "freezer.hasAll", "freezer.isFrozen"] as const),
  "sandbox.treeMemoryBytes",
])(
  "a standby whose %s fails leaves nothing, is not tried again, and the next one is made",
  async (step) => {
    const fake = keep("2");
    const { steps, kept, keptAnew, parked, logged, standbys } = fake;
    steps.fail(step, new Error("refused"), 1);

    await kept(1);
    await keptAnew();

    expect(parked()).toEqual(["c1"]);
    expect(logged).toEqual(["no standby"]);
    await standbys.close();
    expectNoneLeft(fake);
  },
);

test.each<[Step, unknown]>([
  ["freezer.hasAll", false],
  ["freezer.isFrozen", false],
])("a standby that could not be frozen whole (%s) is ended", async (step, answer) => {
  const fake = keep("head");
  fake.steps.answer(step, () => answer);

  fake.standbys.refresh();
  await expect.poll(() => fake.logged).toEqual(["no standby"]);

  expect(fake.standbys.status().count).toBe(0);
  expectNoneLeft(fake);
});

test.each<Step>(["freezer.holds", "freezer.enlist", "catalog.session"])(
  "a session whose %s fails keeps no other standby from being made",
  async (step) => {
    const fake = keep("head");
    fake.steps.answer("freezer.holds", () => false);
    fake.steps.fail(step, new Error("refused"), 1);

    await fake.kept(1);

    expect(fake.logged).toEqual(["a session cannot be frozen"]);
  },
);

test("within the budget the head comes first, and what it no longer holds is ended", async () => {
  const fake = keep("2", { budgetBytes: 3 * 1024 * 1024 });
  await fake.kept(2);

  fake.engine.settings.standby.budgetBytes = 6000;
  await fake.kept(1);

  expect(fake.parked()).toEqual(["c2"]);
  await fake.standbys.close();
  expectNoneLeft(fake);
});

test("one that is too large leaves its room to the next one", async () => {
  const fake = keep("2", { budgetBytes: 3 * 1024 * 1024 });
  fake.engine.catalog.updateCheckpoint("c2", { memoryBytes: ENOUGH_BYTES });

  await fake.kept(1);

  expect(fake.parked()).toEqual(["c1"]);
});

test("what nobody needs any more is ended", async () => {
  const fake = keep("2");
  await fake.kept(2);

  fake.engine.catalog.updateSession("s1", { standby: "off" });
  await fake.kept(0);

  fake.engine.catalog.updateSession("s1", { standby: null });
  expectNoneLeft(fake);
});

test.each<Step>(["sandbox.killTree", "sandbox.unmountRoot", "network.remove", "limits.remove"])(
  "a standby whose %s fails at its end stays to be found, and the others are ended",
  async (step) => {
    const fake = keep("2");
    await fake.kept(2);
    fake.steps.fail(step, new Error("busy"), 1);

    await fake.standbys.close();

    expect(fake.standbys.status().count).toBe(0);
    expect(fake.logged).toEqual(["end a standby"]);
    expect(fake.engine.catalog.instances().map(({ id }) => id)).toEqual(["s1-1", "id1-1"]);
    expectUntouched(fake.engine);
  },
);

test("a standby that ends by itself is removed", async () => {
  const fake = keep("head");
  const end = Promise.withResolvers<never>();
  fake.steps.answer("connectInit", () => end.promise);
  await fake.kept(1);
  fake.engine.catalog.updateSession("s1", { standby: "off" });

  end.reject(new Error("out of memory"));
  await expect.poll(() => fake.engine.catalog.instance("id1-1")).toBeUndefined();

  expect(fake.standbys.has("c2")).toBe(false);
  expect(fake.steps.left()).toEqual([]);
});

test("a standby that was taken is its taker's: it is neither ended nor handed out again", async () => {
  const fake = keep("head");
  await fake.kept(1);

  const taken = fake.standbys.take("c2", ["left", "made"]);

  expect(taken).toMatchObject({ instanceId: "id1-1", pid: 101, origin: "made" });
  expect(fake.standbys.take("c2", ["left", "made"])).toBeNull();
  await fake.standbys.close();
  expect(fake.steps.all).not.toContainEqual(expect.stringMatching(/killTree/));
});

test("one that is old, and one of two, are ended; a new one takes the place of the old one", async () => {
  const fake = keep("head");
  await fake.kept(1);
  const made = fake.standbys.take("c2", ["made"]);
  if (made === null) throw new Error("no standby");
  fake.standbys.add({ ...made, parkedAtMs: performance.now() - ELEVEN_MINUTES_MS });

  await expect.poll(() => fake.engine.catalog.instance("id2-1")).toBeDefined();
  await fake.kept(1);
  expect(fake.engine.catalog.instance("id1-1")).toBeUndefined();

  const newer = fake.standbys.take("c2", ["made"]);
  if (newer === null) throw new Error("no standby");
  fake.standbys.add(newer);
  fake.standbys.add({ ...newer, instanceId: "left-1" });
  await fake.kept(1);
  expect(fake.steps.all).toContain("store.deleteInstance left-1");
});

test.each<[string, (fake: FakeEngine) => void]>([
  [
    "memory is short",
    ({ engine }) => void Object.assign(engine.settings.standby, { reserveBytes: Infinity }),
  ],
  [
    "the store is nearly full",
    ({ steps }) => steps.answer("store.space.usage", () => ({ freeBytes: 1 })),
  ],
  [
    "nothing tells how much memory and room is left",
    ({ steps }) => steps.fail("store.space.usage", new Error("EMFILE")),
  ],
])("where %s, all standbys are ended, and the pool says why", async (reason, press) => {
  const fake = keep("2");
  await fake.kept(2);

  press(fake);
  await fake.kept(0);

  expect(fake.standbys.status().reason).toBe(reason);
  expectNoneLeft(fake);
});

test("a close while a standby is being made ends that one, too, and makes none after it", async () => {
  const fake = keep("2");
  const restoring = Promise.withResolvers<void>();
  fake.steps.during("criu.restore", () => restoring.resolve());
  fake.standbys.refresh();
  await restoring.promise;

  await fake.standbys.close();
  fake.standbys.refresh();

  expect(fake.standbys.status().count).toBe(0);
  expect(fake.steps.all.filter((step) => /^tree .* runs/.test(step))).toHaveLength(1);
  expectNoneLeft(fake);
});
