import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as kernel from "../../../linux/kernel/index.ts";
import { Pace } from "../pace.ts";
import { type TreeChanges, TreeComparison } from "./compare-trees.ts";
import { OverlayTree } from "./overlay-tree.ts";
import { UNTOUCHED } from "./touched-paths.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-trees-"));
  for (const name of ["base", "empty", "full"]) mkdirSync(path.join(directory, name));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** Compares two overlays on the same base, in which every path may have changed. */
async function changesBetween(fromUpper: string, toUpper: string) {
  const base = path.join(directory, "base");
  using from = new OverlayTree(path.join(directory, fromUpper), base, kernel);
  using to = new OverlayTree(path.join(directory, toUpper), base, kernel);
  const changes: TreeChanges = {
    ...{ before: UNTOUCHED, after: UNTOUCHED, created: new Set(), moved: new Map() },
    ...{ sharedInodeMax: 0, written: new Map(), attributes: new Set() },
  };
  const pace = new Pace(new AbortController().signal);
  return await new TreeComparison({ from, to, changes, isHidden: () => false, pace }).run();
}

// Only root can look below what is mounted over a base.
test.runIf(process.getuid?.() === 0)(
  "a directory of more entries than a call can have arguments is compared",
  async () => {
    const entries = 130_000;
    const many = path.join(directory, "full/many");
    mkdirSync(many);
    // A file can have only so many names.
    for (let number = 0; number < entries; number += 1) {
      const first = path.join(many, String(number - (number % 10_000)));
      if (number % 10_000 === 0) writeFileSync(first, "");
      else linkSync(first, path.join(many, String(number)));
    }

    const come = await changesBetween("empty", "full");
    const gone = await changesBetween("full", "empty");

    const count = (found: typeof come, change: string) =>
      found.filter((each) => each.change === change).length;
    expect(count(come, "added")).toBe(entries + 1);
    expect(count(gone, "deleted")).toBe(entries + 1);
  },
  60_000,
);
