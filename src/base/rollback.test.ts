import { expect, test } from "vitest";
import { Rollback } from "./rollback.ts";

async function fail(steps: Record<string, () => unknown>, keep = false): Promise<void> {
  await using rollback = new Rollback();
  for (const [what, undo] of Object.entries(steps)) rollback.defer(what, undo);
  if (keep) rollback.keep();
  else throw new Error("the operation");
}

test("steps are undone in reverse, each after the one before has ended", async () => {
  const undone: string[] = [];
  const step = (name: string) => async () => {
    await new Promise((resolve) => setImmediate(resolve));
    undone.push(name);
  };

  await expect(fail({ a: step("a"), b: step("b"), c: step("c") })).rejects.toThrow("the operation");

  expect(undone).toEqual(["c", "b", "a"]);
});

test("what was kept is not undone", async () => {
  const undone: string[] = [];

  await fail({ a: () => undone.push("a") }, true);

  expect(undone).toEqual([]);
});

test("a step that fails stops no other, and hides neither itself nor the first error", async () => {
  const undone: string[] = [];
  const steps = {
    "remove a": () => undone.push("a"),
    "remove b": () => {
      throw new Error("b is busy");
    },
    "remove c": () => Promise.reject(new Error("c is busy")),
  };

  const thrown = await fail(steps).catch((error: unknown) => error);

  expect(undone).toEqual(["a"]);
  expect(thrown).toBeInstanceOf(SuppressedError);
  const { error, suppressed } = thrown as SuppressedError;
  expect(suppressed).toEqual(new Error("the operation"));
  expect(error).toBeInstanceOf(AggregateError);
  expect(String(error.message)).toBe(
    "Error: could not remove c: Error: c is busy; Error: could not remove b: Error: b is busy",
  );
});
