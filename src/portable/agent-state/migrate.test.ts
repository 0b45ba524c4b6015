import { expect, test, vi } from "vitest";
import type { JsonValue } from "../objects/index.ts";
import { type Migrations, migrateState } from "./index.ts";

const MIGRATIONS: Migrations = {
  1: (state) => ({ plan: state }),
  2: (state) => ({ ...(state as { plan: JsonValue }), isPaused: false }),
};
const planner = (version: number) => ({ name: "planner", version });

test("a state of version 1 comes to version 3 through two migrations", () => {
  expect(migrateState(["a"], planner(1), planner(3), MIGRATIONS)).toEqual({
    plan: ["a"],
    isPaused: false,
  });
  expect(migrateState({ plan: [] }, planner(2), planner(3), MIGRATIONS)).toEqual({
    plan: [],
    isPaused: false,
  });
  expect(migrateState("as it is", planner(3), planner(3), MIGRATIONS)).toBe("as it is");
});

test("a newer state, another's and one without a way are refused, and no migration runs", () => {
  const first = vi.fn(() => null);
  const migrate = (found: { name: string; version: number }) => () =>
    migrateState([], found, planner(3), { 1: first });

  expect(migrate(planner(4))).toThrow(
    expect.objectContaining({ code: "FORMAT_TOO_NEW", hint: expect.stringContaining("Update") }),
  );
  expect(migrate({ name: "critic", version: 1 })).toThrow(
    expect.objectContaining({ code: "USAGE_INVALID", message: expect.stringContaining("critic") }),
  );
  expect(first).not.toHaveBeenCalled();
  expect(migrate(planner(1))).toThrow(expect.objectContaining({ code: "USAGE_INVALID" }));
});
