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
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Target, versionAt } from "../../src/engine/changes/index.ts";
import { CopyJob } from "../../src/engine/files/index.ts";
import { carryOut, Journal, makePlan } from "../../src/engine/merge/index.ts";
import * as kernel from "../../src/linux/kernel/index.ts";
import * as textTools from "../../src/linux/text-tools/index.ts";

const NAMES = ["a", "b", "c", "d/e", "d/f", "g/h/i", "j", "k"];
const TREES = Array.from({ length: 30 }, (_, seed) => seed + 1);
const LABELS = { ours: "HEAD", base: "base", theirs: "theirs" };
const GIT = [
  "-c",
  "user.name=t",
  "-c",
  "user.email=t@t",
  "-c",
  "merge.conflictStyle=merge",
  "-c",
  "merge.renames=false",
];

/** ort looks for renames, and compares in another way, whatever it is told. */
const STRATEGY = ["-s", "recursive", "-X", "diff-algorithm=myers", "-X", "no-renames"];

type Tree = Record<string, string>;

let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), "waypoint-merges-"));
});
afterEach(() => rmSync(root, { recursive: true }));

/** A generator of the same numbers for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_507) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}

function randomText(random: (below: number) => number): string {
  const count = random(14);
  const lines = Array.from({ length: count }, () => `line ${random(6)}\n`).join("");
  return random(5) === 0 ? `${lines}without an end` : lines;
}

function editText(text: string, random: (below: number) => number): string {
  const lines = text.split(/(?<=\n)/);
  for (let edits = 1 + random(3); edits > 0; edits -= 1) {
    const added = random(3) === 0 ? [] : [`edit ${random(9)}\n`];
    lines.splice(random(lines.length + 1), random(2), ...added);
  }
  return lines.join("");
}

function editTree(tree: Tree, random: (below: number) => number): Tree {
  const edited = { ...tree };
  for (const name of NAMES) {
    const choice = random(10);
    const text = edited[name];
    if (text === undefined) {
      if (choice < 4) edited[name] = randomText(random);
    } else if (choice < 5) edited[name] = editText(text, random);
    else if (choice === 5) delete edited[name];
  }
  return edited;
}

function writeTree(directory: string, tree: Tree): void {
  for (const [name, text] of Object.entries(tree)) {
    mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
    writeFileSync(path.join(directory, name), text);
  }
}

function readTree(directory: string): Tree {
  const tree: Tree = {};
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const whole = path.join(entry.parentPath, entry.name);
    const name = path.relative(directory, whole);
    if (entry.isFile() && !name.startsWith(".git/")) tree[name] = readFileSync(whole, "utf8");
  }
  return tree;
}

/** What git's own merge makes of three trees. */
function mergeByGit(base: Tree, ours: Tree, theirs: Tree): { tree: Tree; conflicts: string[] } {
  const directory = path.join(root, "git");
  mkdirSync(directory);
  const git = (...args: string[]) =>
    spawnSync("git", [...GIT, ...args], { cwd: directory, encoding: "utf8" });
  const commit = (tree: Tree) => {
    for (const name of Object.keys(readTree(directory))) rmSync(path.join(directory, name));
    writeTree(directory, tree);
    git("add", "-A");
    git("commit", "-q", "--allow-empty", "-m", "x");
  };
  git("init", "-q", "-b", "ours");
  commit(base);
  git("checkout", "-q", "-b", "theirs");
  commit(theirs);
  git("checkout", "-q", "ours");
  commit(ours);
  // git merge-file compares like this; and a path is a path here, whatever it was renamed from.
  git("merge", "-q", "--no-edit", ...STRATEGY, "theirs");
  const conflicts = git("diff", "--name-only", "--diff-filter=U").stdout.split("\n");
  return { tree: readTree(directory), conflicts: conflicts.filter((name) => name !== "") };
}

/** What our plan makes of them. */
async function mergeByPlan(base: Tree, ours: Tree, theirs: Tree) {
  const at = (name: string) => path.join(root, name);
  for (const [name, tree] of Object.entries({ base, ours, theirs })) {
    mkdirSync(at(name));
    writeTree(at(name), tree);
  }
  mkdirSync(at("store"));
  const versionIn = (side: string, name: string) =>
    existsSync(at(`${side}/${name}`)) ? versionAt(at(`${side}/${name}`)) : null;
  const names = [...new Set([...Object.keys(base), ...Object.keys(theirs)])];
  const desired = names.map((name) => ({
    ...{ path: name, base: versionIn("base", name), theirs: versionIn("theirs", name) },
    ...{ ctimeNs: null, linkKey: null },
  }));
  const journal = new Journal(at("store"));
  const fd = openSync(at("ours"), "r");
  const signal = new AbortController().signal;
  await journal.make("m");
  const target = new Target(fd, kernel);
  const plan = await makePlan(desired, target, {
    ...{ onConflict: "git", labels: LABELS, scratchDir: journal.dirOf("m"), textTools, signal },
    directoryAt: (name) => versionIn("theirs", name),
  });
  const job = new CopyJob(
    fd,
    { owner: null, dropsPrivileges: false },
    { id: "m", signal, calls: kernel },
  );
  const record = {
    ...({ id: "m", kind: "merge", at: "", session: "", checkpoint: "" } as const),
    ...{ destination: { kind: "machine", directory: at("ours") } as const },
    ...{ before: null, operation: null, undoes: null },
  };
  await carryOut({ record, plan, target, journal, job, sync: async () => {} });
  closeSync(fd);
  return { tree: readTree(at("ours")), conflicts: plan.conflicts.map((each) => each.path) };
}

describe.each(TREES)("trees of seed %i", (seed) => {
  test("become what git's merge makes of them, conflicts too", async () => {
    const random = randomOf(seed);
    const base: Tree = {};
    for (const name of NAMES) if (random(5) > 0) base[name] = randomText(random);
    const ours = editTree(base, random);
    const theirs = editTree(base, random);

    const expected = mergeByGit(base, ours, theirs);
    const merged = await mergeByPlan(base, ours, theirs);

    expect(merged.conflicts.toSorted()).toEqual(expected.conflicts.toSorted());
    expect(merged.tree).toEqual(expected.tree);
  });
});

test("without git, diff3 joins texts as git does where both find no conflict", async () => {
  const bin = path.join(root, "bin");
  mkdirSync(bin);
  for (const name of ["sh", "diff3", "diff"]) {
    const found = execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    symlinkSync(found, path.join(bin, name));
  }
  const { PATH } = process.env;
  let both = 0;
  for (let seed = 1; seed <= 60; seed += 1) {
    const random = randomOf(seed);
    const base = randomText(random);
    const sides = { base, ours: editText(base, random), theirs: editText(base, random) };
    const texts = {
      base: Buffer.from(sides.base),
      ours: Buffer.from(sides.ours),
      theirs: Buffer.from(sides.theirs),
    };
    const byGit = await textTools.mergeTexts({ ...texts, labels: LABELS }, root);
    process.env["PATH"] = bin;
    const byDiff3 = await textTools.mergeTexts({ ...texts, labels: LABELS }, root).finally(() => {
      process.env["PATH"] = PATH;
    });
    if (byGit.hasConflicts || byDiff3.hasConflicts) continue;
    both += 1;
    expect({ sides, text: byDiff3.text.toString() }).toEqual({
      sides,
      text: byGit.text.toString(),
    });
  }
  expect(both).toBeGreaterThan(5);
});
