import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { FakeEngine, Step } from "../../../test/support/fake-engine.ts";
import { checkpointRow } from "../../../test/support/fake-rows.ts";
import { engineWithSession, SESSION, underLease } from "../../../test/support/fake-session.ts";
import type { TreeEntry } from "../moment/index.ts";
import type { FileAction } from "./file-actions.ts";
import { jobId, type PutBackFiles, putBackFiles } from "./put-back-files.ts";
import { settleInterrupted } from "./settle-interrupted.ts";

const LOSS = { loseProcesses: false, withoutUndo: false };

/** The files of the session, and as they were then: this process stands for its first one. */
let now: string;
let then: string;

beforeEach(() => {
  const directory = mkdtempSync(path.join(tmpdir(), "waypoint-put-back-"));
  now = path.join(directory, "now");
  then = path.join(directory, "then");
  for (const [side, text] of [
    [now, "new"],
    [then, "old"],
  ] as const) {
    mkdirSync(side);
    for (const name of ["a", "b"]) writeFileSync(path.join(side, name), text);
  }
});

afterEach(() => rmSync(path.dirname(now), { recursive: true }));

function engineWithFiles() {
  const fake = engineWithSession(SESSION);
  fake.engine.live.set({ ...fake.live("s1", "s1-1"), pid: process.pid });
  return fake;
}

/** Both files are to be as they were. */
function actions(): FileAction[] {
  const entry = (directory: string, name: string) => {
    const rights = { mode: 0o644, uid: process.getuid?.(), gid: process.getgid?.() };
    return { type: "file", ...rights, hostPath: path.join(directory, name) } as TreeEntry;
  };
  return ["a", "b"].map((name) => ({
    rawPath: path.join(now, name),
    have: entry(now, name),
    want: entry(then, name),
  }));
}

function putBack(fake: FakeEngine, found = actions()) {
  const what: PutBackFiles = {
    ...{ kind: "restore", source: checkpointRow(), intent: "before", find: async () => found },
    detail: { parts: { only: "files", paths: [], except: [] }, since: null, undoes: null },
  };
  return underLease(fake, () => putBackFiles(SESSION, what, LOSS, fake.engine));
}

function contents() {
  return readdirSync(now).map((name) => `${name}: ${readFileSync(path.join(now, name), "utf8")}`);
}

const operationsOf = ({ engine }: FakeEngine) => engine.catalog.operations.all("s1");

test("what is there is captured and the paths are noted before the first file changes", async () => {
  const fake = engineWithFiles();
  const seen: string[][] = [];
  const look = () => seen.push(contents());
  fake.steps.during("criu.dump", look);
  fake.steps.during("catalog.operations.putPaths", look);
  fake.steps.during("catalog.operations.update", look);

  const put = await putBack(fake);

  const [before, after] = [
    ["a: new", "b: new"],
    ["a: old", "b: old"],
  ];
  expect(seen).toEqual([before, before, after]);
  expect(put).toMatchObject({ undo: "id2", files: { put: 2, removed: 0, leftOut: [] } });
  expect(operationsOf(fake)).toMatchObject([{ undo: "id2", detail: { state: "done", put: 2 } }]);
  expect(fake.steps.left()).toEqual(["checkpoint id2"]);
});

test.each<Step>([
  "store.snapshots.ofInstance",
  "sandbox.listOpenFiles",
  "criu.dump",
  "catalog.operations.insert",
  "catalog.operations.putPaths",
])("files are not touched where %s fails, and no operation is noted", async (step) => {
  const fake = engineWithFiles();
  fake.steps.fail(step);

  await expect(putBack(fake)).rejects.toThrow(`${step} failed`);

  expect(contents()).toEqual(["a: new", "b: new"]);
  expect(operationsOf(fake)).toEqual([]);
  expect(fake.steps.left().filter((what) => what.startsWith("held"))).toEqual([]);
});

test("where a file cannot be put back all are as they were, and undo could take it back", async () => {
  const fake = engineWithFiles();
  rmSync(path.join(then, "b"));

  await expect(putBack(fake)).rejects.toMatchObject({ code: "FILE_FAILED" });

  expect(contents()).toEqual(["a: new", "b: new"]);
  const [operation] = operationsOf(fake);
  expect(operation).toMatchObject({ undo: "id2", readyMs: null, detail: { state: "interrupted" } });
  const paths = ["a", "b"].map((name) => path.join(now, name));
  expect(fake.engine.catalog.operations.paths(operation?.id ?? 0)).toEqual(paths);
});

test("why files were not put back is told though it cannot be noted; the next daemon notes it", async () => {
  const fake = engineWithFiles();
  rmSync(path.join(then, "b"));
  fake.steps.fail("catalog.operations.update", undefined, 1);

  await expect(putBack(fake)).rejects.toMatchObject({ code: "FILE_FAILED" });
  expect(operationsOf(fake)).toMatchObject([{ detail: { state: "begun" } }]);
  const unfinished = path.join(now, `.waypoint-apply-${jobId(operationsOf(fake)[0]?.id ?? 0)}-1`);
  writeFileSync(unfinished, "half");
  await settleInterrupted(fake.engine);

  expect(operationsOf(fake)).toMatchObject([{ detail: { state: "interrupted" } }]);
  expect(contents()).toEqual(["a: new", "b: new"]);
});

test("where nothing differs nothing is captured or noted", async () => {
  const fake = engineWithFiles();

  expect(await putBack(fake, [])).toMatchObject({ undo: null, files: { put: 0, removed: 0 } });

  expect(operationsOf(fake)).toEqual([]);
  expect(fake.steps.all).not.toContain("criu.dump s1-1");
});

test("a directory in the place of a file ends it before anything is begun", async () => {
  const fake = engineWithFiles();
  const [first] = actions();
  const swapped = { ...first, have: { ...first?.have, type: "directory" } } as FileAction;

  await expect(putBack(fake, [swapped])).rejects.toMatchObject({ code: "FILE_REFUSED" });

  expect(operationsOf(fake)).toEqual([]);
  expect(fake.steps.all).not.toContain("criu.dump s1-1");
});
