import { mkdirSync } from "node:fs";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { TestBases } from "../support/bases.ts";
import { doStep, type FileStep, fileSteps, makeBaseTree } from "../support/file-steps.ts";
import { applyChanges, type FileTree, readTree } from "../support/file-tree.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Few in the gate; WAYPOINT_STORY_RUNS=500 looks longer. */
const RUNS = Number(process.env["WAYPOINT_STORY_RUNS"] ?? 15);
/** A counterexample that was printed, to be run again and made smaller: its seed and path. */
const { WAYPOINT_STORY_SEED: seed, WAYPOINT_STORY_PATH: path } = process.env;
const AGAIN =
  seed === undefined
    ? { endOnFailure: true }
    : { seed: Number(seed), ...(path === undefined ? {} : { path }) };
/** Every run, and every step of making a counterexample smaller, has a tree of its own. */
const TREES = RUNS + 200;

let own: TestWaypoint;
let bases: TestBases;
let main: Session;
let other: Session;
let nextTree = 0;

beforeAll(async () => {
  bases = new TestBases();
  const base = await bases.makeBusybox("story");
  for (let number = 0; number < TREES; number += 1) {
    mkdirSync(`${base}/t${number}`);
    makeBaseTree(`${base}/t${number}`);
  }
  own = await openTestWaypoint();
  main = await own.waypoint.new({ name: "main", base, net: "none" });
  const start = await main.checkpoint();
  [other] = (await start.fork(1, { name: "other" })) as [Session];
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
  bases[Symbol.dispose]();
});

/** Does steps in a session, and returns the checkpoint after them with the tree as it is then. */
async function live(session: Session, tree: string, steps: readonly FileStep[]) {
  const { pid } = await session.info();
  const top = `/proc/${pid}/root${tree}`;
  for (const step of steps) doStep(top, step);
  const { id } = await session.checkpoint({ filesOnly: true });
  return { id, tree: readTree(top) };
}

async function expectTold(
  from: { id: string; tree: FileTree },
  to: { id: string; tree: FileTree },
  prefix: string,
): Promise<void> {
  const { files, unknown } = await own.waypoint.diff(from.id, to.id, { path: prefix });
  const told = (files ?? []).filter(({ path }) => path.startsWith(`${prefix}/`));

  expect(unknown["files"]).toBeUndefined();
  const applied = applyChanges(from.tree, told, to.tree, prefix);
  expect(sorted(applied)).toEqual(sorted(to.tree));
}

function sorted(tree: FileTree) {
  return [...tree].sort(([one], [two]) => (one < two ? -1 : 1));
}

test("applying a diff to the files before gives the files after, and it tells nothing else", async () => {
  const run = async (first: FileStep[], second: FileStep[], elsewhere: FileStep[]) => {
    const tree = `/t${nextTree}`;
    nextTree += 1;
    const before = await live(main, tree, first);
    const after = await live(main, tree, second);
    const branch = await live(other, tree, elsewhere);
    const untouched = { id: "main", tree: after.tree };

    await expectTold(before, after, tree);
    await expectTold(after, before, tree);
    await expectTold(after, branch, tree);
    await expectTold(before, untouched, tree);
  };

  await fc.assert(fc.asyncProperty(fileSteps, fileSteps, fileSteps, run), {
    numRuns: RUNS,
    ...AGAIN,
  });
}, 1_800_000);
