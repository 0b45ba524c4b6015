import { expect, test } from "vitest";
import type { FakeEngine, Step } from "../../../test/support/fake-engine.ts";
import { checkpointRow } from "../../../test/support/fake-rows.ts";
import { engineWithSession, SESSION } from "../../../test/support/fake-session.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { adoptInstance } from "./adopt-instance.ts";
import { restoreAgain } from "./restore-again.ts";

/** An engine in which a session loses the memory that was on its way from `c1`. */
function engineWithLost() {
  const fake = engineWithSession(SESSION);
  fake.engine.catalog.updateInstance("s1-1", { fillingFrom: "c1" });
  fake.steps.forget();
  return fake;
}

const again = ({ engine }: FakeEngine) => restoreAgain("s1", "s1-1", engine);
const damaged = new WaypointError("CHECKPOINT_INCOMPLETE", "It is damaged.");

/** Notes that `c1` was restored, and that the checkpoint `left` is what was there before. */
function noteRestore({ engine }: FakeEngine) {
  engine.catalog.insertCheckpoint(checkpointRow({ id: "left" }));
  engine.catalog.operations.insert({
    ...{ session: "s1", kind: "restore", checkpoint: "c1", undo: "left", at: "2026-01-02" },
    ...{ readyMs: 1, stateBefore: "running" },
  });
}

test("a session whose memory is lost is restored again, whole, when its processes have ended", async () => {
  const fake = engineWithLost();

  const live = await again(fake);
  await fake.engine.background.idle();

  const { catalog } = fake.engine;
  const order = ["sandbox.killTree 70 7", "criu.restore s1-2", "store.deleteInstance s1-1"];
  expect(fake.steps.all.filter((step) => order.includes(step))).toEqual(order);
  expect(fake.steps.all).not.toContain("criu.startPagesServer s1-2");
  expect(live).toMatchObject({ instanceId: "s1-2" });
  expect(catalog.session("s1")).toMatchObject({ state: "running", instance: "s1-2", head: "c2" });
  expect(catalog.operations.all("s1")).toMatchObject([{ kind: "recover", checkpoint: "c1" }]);
});

test.each<Step>([
  "sandbox.killTree",
  "store.createInstanceFrom",
  "criu.restore",
  "connectInit",
  "catalog.transaction",
  "catalog.operations.insert",
])(
  "a session that cannot be restored again for %s is as it was found, and that is logged",
  async (step) => {
    const fake = engineWithLost();
    fake.steps.fail(step, undefined, 1);

    expect(await again(fake)).toBeNull();

    expect(fake.engine.catalog.session("s1")).toMatchObject({ instance: "s1-1", head: "c2" });
    expect(fake.engine.catalog.instances().map(({ id }) => id)).toEqual(["s1-1"]);
    expect(fake.steps.left()).toEqual([]);
    expect(fake.logged).toEqual(["restore a session again"]);
  },
);

test("where the checkpoint is damaged a session goes back to what the restore had left", async () => {
  const fake = engineWithLost();
  noteRestore(fake);
  fake.steps.answer("store.images.isInStore", () => false);
  fake.steps.fail("store.images.requireUndamaged", damaged, 1);

  await again(fake);

  expect(fake.engine.catalog.session("s1")).toMatchObject({ instance: "s1-2", head: "left" });
  expect(fake.steps.all).toContain("store.createInstanceFrom s1-2 left");
});

test("where nothing was left of it a session with a damaged checkpoint is as it was found", async () => {
  const fake = engineWithLost();
  fake.steps.fail("store.images.requireUndamaged", damaged);

  expect(await again(fake)).toBeNull();

  expect(fake.steps.left()).toEqual([]);
});

test.each([
  ["by itself is ended, and gives back what it holds", null, "ended", "s1-1"],
  ["for the loss of its memory is restored again", "c1", "running", "s1-2"],
])("a session that ends %s", async (_, fillingFrom, state, instance) => {
  const fake = engineWithSession(SESSION);
  const ended = Promise.withResolvers<void>();
  fake.engine.catalog.updateInstance("s1-1", { fillingFrom });
  fake.steps.answer("criu.awaitPagesServer", async () => ({ kind: "lost", reason: "killed" }));
  const live = fake.live("s1", "s1-1");
  const link = new Proxy(live.link, {
    get: (target, key) => (key === "ended" ? ended.promise : Reflect.get(target, key)),
  });
  adoptInstance({ ...live, link }, fake.engine);

  ended.resolve();

  const session = () => fake.engine.catalog.session("s1");
  await expect.poll(session).toMatchObject({ state, instance });
  expect(fake.steps.all).toContain("sandbox.killTree 70 7");
});
