import { expect, test } from "vitest";
import type { FakeEngine } from "../../../test/support/fake-engine.ts";
import { checkpointRow, sessionRow } from "../../../test/support/fake-rows.ts";
import { engineWithSession, SESSION } from "../../../test/support/fake-session.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { dumpInstance } from "./dump-instance.ts";
import { noteServedFrom, planUnfilled } from "./unfilled-dump.ts";

const LEFT = { leftBytes: 8192, isTouchedOnly: true };
const INCOMPLETE = new WaypointError("TOOL_FAILED", "Images were not put together.");

/** An engine with a session that gets its memory from `base`, and has all of it when it is filled. */
function engineWithUnfilled() {
  const fake = engineWithSession(SESSION);
  const { engine, steps } = fake;
  engine.catalog.insertCheckpoint(checkpointRow({ id: "base" }));
  engine.catalog.updateInstance("s1-1", { fillingFrom: "base" });
  engine.filling.set("s1-1", Promise.resolve({ kind: "whole", reason: "" }));
  steps.answer("criu.preparePages", async () => LEFT);
  steps.answer("criu.pagesLeft", async () => LEFT);
  steps.answer("criu.isIncomplete", (error: unknown) => error === INCOMPLETE);
  steps.forget();
  return fake;
}

const plan = ({ engine, live }: FakeEngine) => planUnfilled(live("s1", "s1-1"), "new", engine);
const fills = ({ steps }: FakeEngine) =>
  steps.all.filter((step) => step.startsWith("criu.fillPages"));

test("what is missing is taken from the checkpoint that it comes from, and nothing is filled", async () => {
  const fake = engineWithUnfilled();

  const unfilled = await plan(fake);

  expect(unfilled).toMatchObject({ leftBytes: 8192, dump: { socketPath: null } });
  expect(fills(fake)).toEqual([]);
});

test.each([
  { imagesSums: "sha256:1", isInStore: true, compares: "the daemon" },
  { imagesSums: null, isInStore: true, compares: "its server" },
  { imagesSums: "sha256:1", isInStore: false, compares: "its server" },
])("images are compared before by $compares: %o", async ({ imagesSums, isInStore, compares }) => {
  const fake = engineWithUnfilled();
  fake.engine.catalog.updateCheckpoint("base", { imagesSums });
  fake.steps.answer("store.images.isInStore", () => isInStore);
  const asked: unknown[] = [];
  fake.steps.answer("criu.preparePages", async (...words: unknown[]) => {
    asked.push(words.at(-1));
    return LEFT;
  });

  const unfilled = await plan(fake);
  const isByDaemon = compares === "the daemon";
  expect(asked).toEqual([{ isCompared: isByDaemon }]);
  const isCompared = (step: string) => step.startsWith("store.images.requireSound");
  expect(fake.steps.all.some(isCompared)).toBe(isByDaemon);
  expect(unfilled?.leftBytes).toBe(8192);
});

test("where its images are damaged it is filled before", async () => {
  const fake = engineWithUnfilled();
  fake.engine.catalog.updateCheckpoint("base", { imagesSums: "sha256:1" });
  fake.steps.answer("store.images.isInStore", () => true);
  fake.steps.fail("store.images.requireSound");

  expect(await plan(fake)).toBeNull();

  expect(fills(fake)).toHaveLength(1);
});

test("an instance that has all of its memory is dumped as ever", async () => {
  const fake = engineWithUnfilled();
  fake.engine.filling.delete("s1-1");

  expect(await plan(fake)).toBeNull();
  expect(fake.steps.all).toEqual([]);
});

test.each([
  {
    where: "that checkpoint is gone",
    change: ({ engine }: FakeEngine) => engine.catalog.updateInstance("s1-1", { fillingFrom: "x" }),
  },
  {
    where: "its images are gone",
    change: ({ steps }: FakeEngine) => {
      steps.answer("store.images.isInStore", () => false);
      steps.fail("store.images.locate");
    },
  },
  {
    where: "the server cannot prepare",
    change: ({ steps }: FakeEngine) => steps.fail("criu.preparePages"),
  },
])("where $where it is filled before", async ({ change }) => {
  const fake = engineWithUnfilled();
  change(fake);

  expect(await plan(fake)).toBeNull();

  expect(fills(fake)).toHaveLength(1);
});

test("where its memory is lost there is no checkpoint", async () => {
  const fake = engineWithUnfilled();
  fake.steps.fail("criu.preparePages");
  fake.engine.filling.set("s1-1", Promise.resolve({ kind: "lost", reason: "killed" }));

  await expect(plan(fake)).rejects.toMatchObject({ code: "SESSION_ENDED" });
});

test("a dump that does not get what is missing is one of everything, when all has come", async () => {
  const fake = engineWithUnfilled();
  const unfilled = await plan(fake);
  fake.steps.fail("criu.dump", INCOMPLETE, 1);
  fake.steps.forget();

  const live = { instanceId: "s1-1", pid: 70 };
  await dumpInstance(sessionRow(), live, "new", fake.engine, { unfilled });

  const order = /^(criu.(dump|fill)|store.(deleteSnapshot|images.begin))/;
  expect(fake.steps.all.filter((step) => order.test(step))).toEqual([
    "criu.dump s1-1 fails",
    "store.deleteSnapshot new",
    "store.images.beginAgain",
    expect.stringMatching(/^criu.fillPages s1-1/),
    "criu.dump s1-1",
  ]);
  expect(fake.logged).toEqual(["all memory is copied after all"]);
});

test("from its checkpoint on a session that is not full goes back to that one", () => {
  const fake = engineWithUnfilled();
  const live = fake.live("s1", "s1-1");

  noteServedFrom(live, "new", fake.engine);
  expect(fake.engine.catalog.instance("s1-1")?.fillingFrom).toBe("new");

  fake.engine.catalog.updateInstance("s1-1", { fillingFrom: null });
  noteServedFrom(live, "newer", fake.engine);
  expect(fake.engine.catalog.instance("s1-1")?.fillingFrom).toBeNull();
});
