import { expect, test } from "vitest";
import type { FakeEngine, Step } from "../../../test/support/fake-engine.ts";
import { engineWithSession, SESSION, underLease } from "../../../test/support/fake-session.ts";
import { restoreSession } from "./restore-session.ts";
import { findUndoable, undoOperation } from "./undo-operation.ts";

const LOSS = { loseProcesses: false, withoutUndo: false, withoutBinds: false, check: false };
const ALL = { ...LOSS, paths: [], except: [] };

/** An engine on which the session was restored to `c1`, as its first operation. */
async function engineWithRestored() {
  const fake = engineWithSession(SESSION, { freezer: null });
  const { catalog } = fake.engine;
  const target = catalog.checkpoint("c1");
  if (target === undefined) throw new Error("there is no checkpoint");
  await underLease(fake, () => restoreSession(SESSION, target, ALL, fake.engine));
  fake.steps.answer("connectInit", async () => fake.live("s1", "s1-3").link);
  return fake;
}

function undo({ engine, ...fake }: FakeEngine, operation?: number) {
  const session = engine.catalog.session("s1") ?? SESSION;
  const choice = { ...LOSS, operation };
  return underLease({ engine, ...fake }, () => undoOperation(session, choice, engine));
}

test("an undo of a restore goes back to what the restore left, and can be taken back in turn", async () => {
  const fake = await engineWithRestored();
  const { catalog, live } = fake.engine;

  await undo(fake);
  expect(catalog.session("s1")).toMatchObject({ instance: "s1-3", head: "id1" });
  await undo(fake);

  expect(live.get("s1")?.instanceId).toBe("s1-4");
  expect(catalog.operations.all("s1")).toMatchObject([
    { kind: "restore", checkpoint: "c1", undo: "id1" },
    { kind: "undo", checkpoint: "id1", detail: { undoes: 1 } },
    { kind: "undo", detail: { undoes: 2 } },
  ]);
});

test.each<Step>(["criu.dump", "criu.restore", "catalog.operations.insert"])(
  "an undo whose %s fails leaves the session restored, and can be done again",
  async (step) => {
    const fake = await engineWithRestored();
    fake.steps.fail(step, undefined, 1);

    await expect(undo(fake)).rejects.toThrow(`${step} failed`);
    expect(fake.engine.catalog.session("s1")).toMatchObject({ instance: "s1-2", head: "c1" });
    expect(fake.engine.live.get("s1")?.instanceId).toBe("s1-2");

    expect(await undo(fake)).toMatchObject({ checkpoint: "id1" });
  },
);

test.each([
  ["that is not there", 7],
  ["that has nothing to go back to", 2],
  ["of another session", 3],
])("an operation %s cannot be undone", async (_, number) => {
  const fake = await engineWithRestored();
  const row = { checkpoint: null, undo: null, at: "2026-01-02", readyMs: null, stateBefore: null };
  fake.engine.catalog.operations.insert({ ...row, session: "s1", kind: "stop" });
  fake.engine.catalog.operations.insert({ ...row, session: "s2", kind: "stop", undo: "c1" });

  await expect(undo(fake, number)).rejects.toMatchObject({ code: "NOTHING_TO_UNDO" });
});

test("that the last operation kept nothing is said, and which it is", async () => {
  const fake = await engineWithRestored();
  const row = { checkpoint: "c1", undo: null, at: "2026-01-02", readyMs: 1, stateBefore: null };
  const number = fake.engine.catalog.operations.insert({ ...row, session: "s1", kind: "restore" });

  expect(() => findUndoable(SESSION, undefined, fake.engine)).toThrow(
    `The last restore, undo, revert or merge of session ${SESSION.name}, operation ${number}, cannot be undone: what was there before was not captured.`,
  );
});

test("what a restore kept nothing of cannot be undone", () => {
  const fake = engineWithSession(SESSION);

  expect(() => findUndoable(SESSION, undefined, fake.engine)).toThrow("no operation to undo");
});
