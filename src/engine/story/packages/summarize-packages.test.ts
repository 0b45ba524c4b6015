import { expect, test } from "vitest";
import type { Changes, PackageChange } from "../../../shared/protocol/index.ts";
import { summarizePackages } from "./summarize-packages.ts";

function installed(name: string, more: Partial<PackageChange> = {}): PackageChange {
  const versions = { before: null, after: "1" };
  return { manager: "dpkg", name, change: "installed", path: null, ...versions, ...more };
}

function brief(packages: PackageChange[] | null) {
  const { named, counted } = summarizePackages({ packages } as Changes);
  return [...named, ...counted].join(", ");
}

test("what was asked for is named, what came along is counted", () => {
  const libs = ["a", "b", "c"].map((name) => installed(name, { dependency: true }));

  expect(brief([installed("redis")])).toBe("redis installed");
  expect(brief([installed("postgresql-15"), ...libs])).toBe("postgresql-15 installed, 4 packages");
  expect(brief(libs)).toBe("3 packages");
  expect(brief(["x", "y", "z"].map((name) => installed(name)))).toBe(
    "x installed, y installed, z installed",
  );
  expect(brief(["w", "x", "y", "z"].map((name) => installed(name)))).toBe("4 packages");
});

test("the same package in two places counts once, and none is no word", () => {
  expect(brief([installed("a", { path: "/one" }), installed("a", { path: "/two" })])).toBe(
    "a installed",
  );
  expect(brief([])).toBe("");
  expect(brief(null)).toBe("");
});
