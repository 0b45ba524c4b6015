import { expect, test } from "vitest";
import { type FakeEngine, fakeEngine, type Step } from "../../../test/support/fake-engine.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { addBase } from "./add-base.ts";
import { removeBase } from "./remove-base.ts";

const CLIENT = { cancelled: new AbortController().signal, progress: () => {} };

/** A store that keeps what is added to it, and nothing of what could not be filled. */
function withBases(): FakeEngine & { kept: Map<string, object> } {
  const fake = fakeEngine();
  const kept = new Map<string, object>();
  const { steps } = fake;
  steps.answer("sandbox.findHidden", () => ({ directories: [], places: [] }));
  steps.answer("sandbox.hiddenBelow", () => []);
  steps.answer("store.space.usage", () => ({ usedBytes: 0, freeBytes: 0 }));
  steps.answer("store.bases.kindOf", () => "tree");
  steps.answer("store.bases.has", (name: string) => kept.has(name));
  steps.answer("store.bases.all", () => [...kept].map(([name, record]) => ({ name, record })));
  steps.answer("store.bases.bytesOf", async () => 4096);
  steps.answer("store.bases.add", async (name: string, fill: (dir: string) => Promise<object>) => {
    kept.set(name, await fill("/store/bases/.adding/root"));
  });
  steps.answer("store.bases.remove", (name: string) => void kept.delete(name));
  return { ...fake, kept };
}

function add({ engine }: FakeEngine, from = "/srv/root", exclude: string[] = []) {
  return addBase({ name: "today", from, exclude }, CLIENT, engine);
}

test("a base is copied, looked at, shared and measured, and told", async () => {
  const fake = withBases();

  expect(await add(fake)).toMatchObject({ name: "today", from: "/srv/root", sizeBytes: 4096 });

  const steps = [
    "store.bases.copy",
    "sandbox.checkBase",
    "store.bases.share",
    "store.bases.bytesOf",
  ];
  const asked = fake.steps.all.map((step) => step.split(" ")[0]);
  expect(asked.filter((step) => steps.includes(step ?? ""))).toEqual(
    steps.filter((step) => asked.includes(step)),
  );
  expect(asked).toContain("store.bases.copy");
});

test.each<Step>([
  "store.space.requireRoom",
  "store.bases.add",
  "store.bases.copy",
  "sandbox.checkBase",
  "store.bases.share",
  "store.bases.bytesOf",
])("a base whose %s fails is not kept, and its name is free", async (step) => {
  const fake = withBases();
  fake.steps.fail(step, undefined, 1);

  await expect(add(fake)).rejects.toThrow(`${step} failed`);

  expect([...fake.kept]).toEqual([]);
  expect(await add(fake)).toMatchObject({ name: "today" });
});

test("what is wrong is told of what was given, not of where it was copied to", async () => {
  const fake = withBases();
  const inside = "The base /store/bases/.adding/root is no root filesystem.";
  fake.steps.fail("sandbox.checkBase", new WaypointError("BASE_INVALID", inside));

  await expect(add(fake)).rejects.toMatchObject({
    code: "BASE_INVALID",
    message: "The base /srv/root is no root filesystem.",
  });
});

test("a store that fills up meanwhile ends it, and tells that", async () => {
  const fake = withBases();
  fake.steps.answer(
    "store.bases.copy",
    async (_tree: object, _dir: string, signal: AbortSignal) => {
      fake.steps.fail("store.space.requireRoom", new WaypointError("STORE_FULL", "No room."));
      await new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("killed")), { once: true });
      });
    },
  );

  await expect(add(fake)).rejects.toMatchObject({ code: "STORE_FULL" });
  expect([...fake.kept]).toEqual([]);
});

test("what is left out lies in the base, whatever its path says", async () => {
  const fake = withBases();
  let without: readonly string[] = [];
  fake.steps.answer("sandbox.hiddenBelow", () => ["var/lib/waypoint"]);
  fake.steps.answer("store.bases.copy", async (tree: { without: readonly string[] }) => {
    without = tree.without;
  });

  await add(fake, "/srv/root/", ["/home", "/../../etc"]);

  expect(without).toEqual(["/srv/root/home", "/srv/root/etc", "/srv/root/var/lib/waypoint"]);
});

test("a base that a session is just being started on is not removed", async () => {
  const fake = withBases();
  await add(fake);
  fake.steps.answer("store.bases.isHeld", () => true);

  await expect(removeBase("today", fake.engine)).rejects.toMatchObject({ code: "BASE_IN_USE" });
  expect(fake.kept.has("today")).toBe(true);
});
