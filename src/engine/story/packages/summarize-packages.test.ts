import { expect, test } from "vitest";
import type { Changes, PackageChange } from "../../../shared/protocol/index.ts";
import { summarizePackages } from "./summarize-packages.ts";

function installed(name: string, more: Partial<PackageChange> = {}): PackageChange {
  const versions = { before: null, after: "1" };
  return { manager: "dpkg", name, change: "installed", path: null, ...versions, ...more };
}

function brief(packages: PackageChange[] | null) {
  return summarizePackages({ packages } as Changes);
}

test("what was asked for is named, what came along is counted", () => {
  const libs = ["a", "b", "c"].map((name) => installed(name, { dependency: true }));

  expect(brief([installed("redis")])).toBe("1 package (redis installed)");
  expect(brief([installed("postgresql-15"), ...libs])).toBe("4 packages (postgresql-15 installed)");
  expect(brief(libs)).toBe("3 packages");
  expect(brief(["x", "y", "z"].map((name) => installed(name)))).toBe("3 packages");
});

test("the same package in two places counts once, and none is no word", () => {
  expect(brief([installed("a", { path: "/one" }), installed("a", { path: "/two" })])).toBe(
    "1 package (a installed)",
  );
  expect(brief([])).toBeNull();
  expect(brief(null)).toBeNull();
});
