import { expect, test } from "vitest";
import { fakeEngine } from "../../../test/support/fake-engine.ts";
import { sessionRow } from "../../../test/support/fake-rows.ts";
import { rebuildSessions } from "./rebuild-sessions.ts";

const ONE = sessionRow({ id: "s1", name: "one", instance: "s1-1" });
const TWO = sessionRow({ id: "s2", name: "two", instance: "s2-1" });
const WITHOUT_INSTANCE = sessionRow({ id: "s3", name: "three", instance: null, state: "ended" });

/** Builds what is there after the loss of the catalog: the store's files, and what runs. */
function afterLoss(written: readonly unknown[]) {
  const fake = fakeEngine();
  fake.steps.answer("store.sessions.readAll", () => written);
  fake.steps.answer("sandbox.findInitsByUpper", (upper: string) =>
    upper.includes("s1-1") ? [90] : [],
  );
  return fake;
}

test("sessions come back with what runs of them, and nothing is asked of what cannot be read", async () => {
  const { engine, logged } = afterLoss([ONE, { id: "?" }, TWO, WITHOUT_INSTANCE]);

  await rebuildSessions(engine);

  expect(engine.catalog.sessions()).toEqual([ONE, TWO, WITHOUT_INSTANCE]);
  expect(engine.catalog.instances()).toMatchObject([
    { id: "s1-1", session: "s1", pid: 90, startTicks: 7 },
    { id: "s2-1", session: "s2", pid: null, startTicks: null },
  ]);
  expect(logged).toContain("a session's file cannot be read");
});

test.each([
  "catalog.insertSession",
  "store.instancePaths",
  "sandbox.findInitsByUpper",
  "catalog.insertInstance",
] as const)(
  "a session whose %s fails is left out whole, and the others come back",
  async (step) => {
    const { engine, steps, logged } = afterLoss([ONE, TWO]);
    steps.fail(step, new Error("damaged"), 1);

    await rebuildSessions(engine);

    expect(engine.catalog.sessions()).toEqual([TWO]);
    expect(engine.catalog.instances().map(({ id }) => id)).toEqual(["s2-1"]);
    expect(logged).toContain("recovery: a session without a row");
  },
);

test("with a catalog that was there, a session that it does not know was removed: its file goes", async () => {
  const { engine, steps } = afterLoss([ONE, TWO, WITHOUT_INSTANCE]);
  const { catalog } = engine;
  catalog.insertSession(ONE);
  engine.catalog = new Proxy(catalog, {
    get: (target, key) => (key === "isNew" ? false : Reflect.get(target, key)),
  });
  steps.fail("store.sessions.write", new Error("busy"), 1);

  await rebuildSessions(engine);

  expect(catalog.sessions()).toEqual([ONE]);
  expect(steps.all.filter((step) => step.startsWith("store.sessions.write"))).toEqual([
    "store.sessions.write s2 fails",
    "store.sessions.write s3",
  ]);
});
