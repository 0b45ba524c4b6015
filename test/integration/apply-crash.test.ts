import { execFileSync, spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Target } from "../../src/engine/changes/index.ts";
import { Journal, putBack, resume } from "../../src/engine/merge/index.ts";
import * as kernel from "../../src/linux/kernel/index.ts";

const PROGRAM = fileURLToPath(new URL("../support/apply-until-killed.ts", import.meta.url));
/** As many steps as the plan below has, staged and committed, and some. */
const KILLED_AT = Array.from({ length: 30 }, (_, index) => index + 1);

let root: string;
const at = (...names: string[]) => path.join(root, ...names);

beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), "waypoint-crash-"));
  for (const name of ["target/old", "new/made", "store"]) mkdirSync(at(name), { recursive: true });
  for (const name of ["one", "two", "gone", "old/inside"])
    writeFileSync(at("target", name), `old ${name}\n`);
  for (const name of ["one", "two", "three", "made/file"])
    writeFileSync(at("new", name), `new ${name}\n`);
  writeFileSync(at("new/old"), "a file now\n");
  // Alike in size and time, as what tools write that set times: only their content tells them apart.
  for (const name of ["target/one", "new/one"]) utimesSync(at(name), 1, 1);
});

afterEach(() => rmSync(root, { recursive: true }));

const OLD = {
  one: "old one\n",
  two: "old two\n",
  gone: "old gone\n",
  "old/inside": "old old/inside\n",
};
const NEW = {
  ...{ one: "new one\n", two: "new two\n", three: "new three\n" },
  ...{ "made/file": "new made/file\n", old: "a file now\n" },
};

/** Returns every file of the target, by its path; what was staged is none. */
function filesOf(directory: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const name of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const whole = path.join(name.parentPath, name.name);
    if (name.isFile()) files[path.relative(directory, whole)] = readFileSync(whole, "utf8");
  }
  return files;
}

function applyUntil(killAt: number) {
  const names = ["one", "two", "three", "made", "made/file", "old"];
  const desired = [
    ...names.map((name) => ({ path: name, from: at("new", name) })),
    ...["gone", "old/inside"].map((name) => ({ path: name, from: null })),
  ];
  const job = { storeDir: at("store"), targetDir: at("target"), desired, killAt };
  return spawnSync(process.execPath, [PROGRAM, JSON.stringify(job)], { encoding: "utf8" });
}

async function withTarget<T>(use: (target: Target, journal: Journal) => Promise<T>): Promise<T> {
  const fd = openSync(at("target"), "r");
  try {
    return await use(new Target(fd, kernel), new Journal(at("store")));
  } finally {
    closeSync(fd);
  }
}

test("without a kill all is new", () => {
  const { status, stdout, stderr } = applyUntil(0);

  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(Number(stdout)).toBeLessThan(Math.max(...KILLED_AT));
  expect(filesOf(at("target"))).toEqual(NEW);
});

describe.each(KILLED_AT)("killed at step %i", (killAt) => {
  test("each file is the old or the new one, and it can be completed or put back", async () => {
    applyUntil(killAt);

    const whole = filesOf(at("target"));
    for (const [name, text] of Object.entries(whole)) {
      if (path.basename(name).startsWith(".waypoint-apply-")) continue;
      const allowed = [
        (OLD as Record<string, string>)[name],
        (NEW as Record<string, string>)[name],
      ];
      expect(allowed).toContain(text);
    }
    execFileSync("cp", ["-a", at("target"), at("half")]);
    execFileSync("cp", ["-a", at("store"), at("half-store")]);
    const [record] = await new Journal(at("store")).list();
    if (record === undefined) return expect(whole).toEqual(OLD);
    if (record.state === "committing" || record.state === "finishing") {
      await withTarget((target, journal) => resume(record, target, journal));
      expect(filesOf(at("target"))).toEqual(NEW);
      for (const name of ["target", "store"]) rmSync(at(name), { recursive: true });
      execFileSync("mv", [at("half"), at("target")]);
      execFileSync("mv", [at("half-store"), at("store")]);
    }
    if (record.state === "committing" || record.state === "staging") {
      const left = await withTarget((target) => putBack(record, target));
      expect(left).toEqual([]);
      expect(filesOf(at("target"))).toEqual(OLD);
    }
    expect(existsSync(at("target"))).toBe(true);
  });
});
