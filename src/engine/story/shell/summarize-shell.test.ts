import { expect, test } from "vitest";
import type { Changes, NamedChange } from "../../../shared/protocol/index.ts";
import { compareNamed } from "./compare-named.ts";
import { summarizeShell } from "./summarize-shell.ts";

const CWD = { before: "/", after: "/" };
const NO_ENVIRONMENT = { before: null, after: null };

function named(...names: string[]): NamedChange[] {
  return names.map((name) => ({ name, change: "added", before: null, after: "x" }));
}

function summary(changes: Partial<Changes>): string {
  const none = { cwd: CWD, virtualenv: NO_ENVIRONMENT, env: [], functions: [] };
  return summarizeShell({ ...none, ...changes } as Changes).named.join(", ");
}

test("the shell is told in a few words", () => {
  expect(summary({})).toBe("");
  expect(
    summary({
      cwd: { before: "/", after: "/srv" },
      env: named("DEBUG"),
      functions: named("a", "b"),
    }),
  ).toBe("cd /srv, env DEBUG, functions a, b");
  expect(summary({ env: named("A", "B", "C") })).toBe("3 variables");
});

test("what an activated environment sets is part of it", () => {
  const env = named("PATH", "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT");
  const functions = named("deactivate");

  expect(summary({ env, functions, virtualenv: { before: null, after: "/srv/shop" } })).toBe(
    "venv shop",
  );
  expect(summary({ env, functions, virtualenv: { before: "/srv/shop", after: null } })).toBe(
    "venv off",
  );
});

test("parts that are unknown are left out", () => {
  expect(summary({ cwd: null, virtualenv: null, env: null, functions: null })).toBe("");
});

test("names are compared by their whole values, and long ones are kept in part", () => {
  const long = "x".repeat(20_000);
  const before = new Map([...["same", "gone"].map((name) => [name, "1"] as const), ["long", long]]);
  const after = new Map([
    ["same", "1"],
    ["new", ""],
    ["long", `${long}y`],
    ["_", "z"],
  ] as const);

  const changes = compareNamed(before, after, ["_"]);

  expect(changes.map(({ name, change }) => `${change} ${name}`)).toEqual([
    "deleted gone",
    "modified long",
    "added new",
  ]);
  expect(changes[1]?.after?.length).toBe(16 * 1024 + 1);
  expect(changes[2]).toEqual({ name: "new", change: "added", before: null, after: "" });
});
