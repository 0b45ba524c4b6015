import { expect, test } from "vitest";
import type { FakeEngine, Step } from "../../../test/support/fake-engine.ts";
import { engineWithSession, SESSION, underLease } from "../../../test/support/fake-session.ts";
import { removeSession, stopSession } from "./end-session.ts";

const stop = (fake: FakeEngine) => underLease(fake, () => stopSession(SESSION, "c2", fake.engine));
const remove = (fake: FakeEngine) => underLease(fake, () => removeSession(SESSION, fake.engine));

test("a session that stops is noted as stopped before its processes end, and keeps its files", async () => {
  const fake = engineWithSession(SESSION);

  await stop(fake);

  expect(fake.steps.all).toEqual([
    "link.end",
    "catalog.transaction",
    "catalog.updateSession s1",
    "catalog.operations.insert",
    "network.beforeEnd s1-1 70",
    "sandbox.killTree 70 7",
    "criu.endPagesServer s1-1",
    "catalog.updateInstance s1-1",
    "sandbox.unmountRoot s1-1",
    "forwards.closeAllIn s1-1",
    "contacts.settle s1-1",
    "network.remove s1-1",
    "contacts.forgetInstance s1-1",
    "freezer.remove s1-1",
    "limits.remove s1-1",
  ]);
  expect(fake.engine.catalog.session("s1")).toMatchObject({ state: "stopped", instance: "s1-1" });
  expect(fake.engine.live.get("s1")).toBeUndefined();
});

test("a removed session is in no catalog before anything of it goes", async () => {
  const fake = engineWithSession(SESSION);

  await remove(fake);

  const order = ["catalog.deleteSession s1", "sandbox.killTree 70 7", "store.deleteInstance s1-1"];
  const steps = [...order, "catalog.deleteInstance s1-1", "store.shares.sweepSoon"];
  expect(fake.steps.all.filter((step) => steps.includes(step))).toEqual(steps);
  expect(fake.engine.catalog.instances()).toEqual([]);
});

test.each<Step>(["sandbox.killTree", "network.remove", "store.deleteInstance"])(
  "what is left of a removed session whose %s fails is found by its instance's row",
  async (step) => {
    const fake = engineWithSession(SESSION);
    fake.steps.fail(step);

    await expect(remove(fake)).rejects.toThrow(`${step} failed`);

    expect(fake.engine.catalog.sessions()).toEqual([]);
    expect(fake.engine.catalog.instance("s1-1")).toBeDefined();
  },
);
