import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Step } from "../../../../test/support/fake-engine.ts";
import { checkpointRow, sessionRow } from "../../../../test/support/fake-rows.ts";
import { engineWithSession, SESSION, underLease } from "../../../../test/support/fake-session.ts";
import { SerialQueues, stateLayout } from "../../../base/index.ts";
import * as kernel from "../../../linux/kernel/index.ts";
import { type ErrorCode, WaypointError } from "../../../shared/errors/index.ts";
import { continueUnfinished } from "../recover.ts";
import { mergeCheckpoint } from "./merge-checkpoint.ts";

type Tree = Readonly<Record<string, string>>;

const OURS: Tree = { edited: "old", gone: "old", "kept/own": "ours", same: "same" };
const BASE: Tree = { edited: "old", gone: "old", same: "same" };
const THEIRS: Tree = { edited: "theirs", "new/deep": "theirs", same: "same" };
const MERGED: Tree = { edited: "theirs", "kept/own": "ours", "new/deep": "theirs", same: "same" };

let directory: string;
/** Where the session has the files that are merged: its root is that of the machine. */
let workDir: string;

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), "waypoint-merge-"));
  workDir = path.join(directory, "session/work");
  fs.mkdirSync(path.join(directory, "base"));
  write(workDir, OURS);
});

afterEach(() => {
  fs.rmSync(directory, { recursive: true });
});

/** Builds a session that stands on `c2` and a branch `c9`, both of which come from `c1`. */
function twoBranches() {
  const fake = engineWithSession(SESSION, {
    fileCalls: { ...kernel, openWithoutMounts: (base: string) => fs.openSync(base, "r") },
  });
  const { engine, steps } = fake;
  const base = path.join(directory, "base");
  engine.settings.layout = stateLayout(path.join(directory, "state"));
  engine.live.set({ ...fake.live("s1", "s1-1"), pid: process.pid });
  engine.catalog.insertSession(sessionRow({ id: "s9", name: "branch", instance: null }));
  const ancestor = checkpointRow({ base });
  engine.catalog.deleteCheckpoint("c1");
  engine.catalog.insertCheckpoint(ancestor);
  const checkpoint = checkpointRow({ ...{ id: "c9", session: "s9", parent: "c1", base } });
  engine.catalog.insertCheckpoint(checkpoint);
  const pathsOf = (id: string) => ({ snapshotPath: path.join(directory, id) });
  for (const [id, tree] of [["c1", BASE] as const, ["c9", THEIRS] as const]) {
    write(path.join(directory, id, "upper", workDir), tree);
  }
  steps.answer("store.checkpointPaths", pathsOf);
  steps.answer("store.snapshots.exists", (at: string) => fs.existsSync(at));
  steps.answer("store.snapshots.highestInode", () => 0);
  steps.answer("store.snapshots.compare", async () => everyPath());
  steps.answer("sandbox.hiddenBelow", () => []);
  steps.answer("sandbox.listOpenFiles", () => []);
  steps.answer("store.space.sync", async () => {});
  steps.forget();
  const controller = new AbortController();
  const nothing = { send: async () => {}, notice: () => {}, progress: () => {}, listen: () => {} };
  const signals = { gone: controller.signal, cancelled: controller.signal };
  const caller = { uid: 0, user: "root", surface: "cli", sudoUser: null, tty: null };
  const client = { ...nothing, ...signals, pid: process.pid, caller };
  const merge = (dryRun = false, session = SESSION) =>
    underLease(fake, () => mergeCheckpoint({ session, checkpoint, dryRun }, client, engine));
  return { ...fake, merge, client, controller };
}

/** Every path of both may differ; which do is told by their contents. */
function everyPath() {
  const below = (id: string) =>
    fs.readdirSync(path.join(directory, id), { recursive: true, encoding: "utf8" });
  return {
    ...{ before: new Set(below("c1")), after: new Set(below("c9")), moved: new Map() },
    ...{ created: new Set(), written: new Map(), attributes: new Set() },
  };
}

function write(at: string, tree: Tree): void {
  for (const [name, content] of Object.entries(tree)) {
    fs.mkdirSync(path.dirname(path.join(at, name)), { recursive: true });
    fs.writeFileSync(path.join(at, name), content);
  }
}

/** Returns every file there is, also what was made beside others. */
function filesNow(): Tree {
  const names = fs.readdirSync(workDir, { recursive: true, encoding: "utf8" }).toSorted();
  const files = names.filter((name) => fs.lstatSync(path.join(workDir, name)).isFile());
  return Object.fromEntries(
    files.map((name) => [name, fs.readFileSync(path.join(workDir, name), "utf8")]),
  );
}

const recordsDir = () => path.join(directory, "state/store/applies");

/** What is kept of merges that are under way. */
function records(): string[] {
  return fs.existsSync(recordsDir()) ? fs.readdirSync(recordsDir()) : [];
}

function onlyRecord(): string {
  return path.join(recordsDir(), records()[0] ?? "");
}

/** The files are as they were, nothing of the merge is kept or noted, and the session runs on. */
function expectAsBefore({ engine }: ReturnType<typeof twoBranches>, files: Tree = OURS) {
  expect(filesNow()).toEqual(files);
  expect(fs.readdirSync(path.dirname(workDir))).toEqual(["work"]);
  expect(fs.existsSync(path.join(workDir, "new"))).toBe(false);
  expect(records()).toEqual([]);
  expect(engine.catalog.operations.all("s1")).toEqual([]);
  expect(engine.catalog.session("s1")).toMatchObject({ state: "running", instance: "s1-1" });
  expect(engine.live.get("s1")?.instanceId).toBe("s1-1");
}

test("the session is captured, the other branch's changes are synced and put in place, and it is noted", async () => {
  const { engine, steps, merge, logged } = twoBranches();

  const result = await merge();

  expect(filesNow()).toEqual(MERGED);
  expect(records()).toEqual([]);
  const order = /^(criu.dump|store.snapshots.compare|store.space.sync|catalog.operations.insert)/;
  expect(steps.all.filter((step) => order.test(step)).map((step) => step.split(" ")[0])).toEqual([
    ...["criu.dump", "store.snapshots.compare", "store.space.sync", "catalog.operations.insert"],
  ]);
  expect(result).toMatchObject({ isDone: true, ancestor: "c1", before: "id1" });
  expect(engine.catalog.operations.all("s1")).toMatchObject([
    { id: result.operation, kind: "merge", checkpoint: "c9", undo: "id1" },
  ]);
  expect(engine.catalog.session("s1")?.head).toBe("id1");
  expect(logged).toEqual([]);
});

test("a dry run tells the same, captures nothing and writes nothing", async () => {
  const branches = twoBranches();

  const result = await branches.merge(true);

  expect(result).toMatchObject({ isDone: false, before: null, totals: { written: 2, deleted: 1 } });
  expect(branches.steps.all).not.toContainEqual(expect.stringMatching(/^criu/));
  expectAsBefore(branches);
});

test.each<Step>([
  ...(["link.quiesce", "criu.dump", "store.writeManifest", "catalog.insertCheckpoint"] as const),
  ...(["store.requireKnown", "store.snapshots.compare", "store.snapshots.highestInode"] as const),
  ...(["sandbox.hiddenBelow", "sandbox.listOpenFiles", "store.space.sync"] as const),
])("a merge whose %s fails changes no file and leaves nothing", async (step) => {
  const branches = twoBranches();
  branches.steps.fail(step);

  await expect(branches.merge()).rejects.toThrow(`${step} failed`);

  expectAsBefore(branches);
});

test.each<{ what: string; at: Step; act: () => void; code: ErrorCode; files?: Tree }>([
  {
    ...{ what: "what is to be taken is gone", at: "sandbox.listOpenFiles", code: "APPLY_CONFLICT" },
    act: () => fs.rmSync(path.join(directory, "c9"), { recursive: true }),
  },
  {
    ...{ what: "its record cannot be made", at: "sandbox.hiddenBelow", code: "FILE_FAILED" },
    act: () => write(path.join(recordsDir(), "id2"), { joined: "no directory" }),
  },
  {
    ...{ what: "its record cannot be written", at: "sandbox.listOpenFiles", code: "FILE_FAILED" },
    act: () => fs.mkdirSync(path.join(onlyRecord(), "record.json.new")),
  },
  {
    ...{ what: "its record cannot go on", at: "store.space.sync", code: "FILE_FAILED" },
    act: () => fs.mkdirSync(path.join(onlyRecord(), "record.json.new")),
  },
  {
    ...{ what: "somebody writes a file before it is kept", code: "APPLY_CONFLICT" },
    ...{ at: "sandbox.listOpenFiles", files: { ...OURS, edited: "mine" } },
    act: () => fs.writeFileSync(path.join(workDir, "edited"), "mine"),
  },
  {
    ...{ what: "somebody writes a file before its turn", code: "APPLY_CONFLICT" },
    ...{ at: "store.space.sync", files: { ...OURS, edited: "mine" } },
    act: () => fs.writeFileSync(path.join(workDir, "edited"), "mine"),
  },
  {
    ...{ what: "somebody makes a file that is to be made", code: "APPLY_CONFLICT" },
    ...{ at: "store.space.sync", files: { ...OURS, "new": "mine" } },
    act: () => fs.writeFileSync(path.join(workDir, "new"), "mine"),
  },
  {
    ...{ what: "somebody removes a file that is to be replaced", code: "APPLY_CONFLICT" },
    ...{ at: "store.space.sync", files: { gone: "old", "kept/own": "ours", same: "same" } },
    act: () => fs.rmSync(path.join(workDir, "edited")),
  },
])("where $what, all the rest is put back: $code", async ({ at, act, code, files }) => {
  const branches = twoBranches();
  branches.steps.during(at, act);

  await expect(branches.merge()).rejects.toMatchObject({ code });

  fs.rmSync(path.join(workDir, "new"), { force: true });
  const { new: _new, ...rest } = { new: "", ...(files ?? OURS) };
  expectAsBefore(branches, rest);
});

test.each<Step>(["store.snapshots.compare", "sandbox.listOpenFiles", "store.space.sync"])(
  "a merge that is cancelled at %s puts all back",
  async (step) => {
    const branches = twoBranches();
    const cancelled = new WaypointError("CANCELLED", "No longer wanted.");
    branches.steps.during(step, () => branches.controller.abort(cancelled));

    await expect(branches.merge()).rejects.toMatchObject({ code: "CANCELLED" });

    expectAsBefore(branches);
  },
);

test("a merge that cannot be noted holds up further ones, until it is continued and noted", async () => {
  const { engine, steps, merge, client } = twoBranches();
  steps.fail("catalog.operations.insert", new Error("disk full"), 1);

  await expect(merge()).rejects.toThrow("disk full");

  expect(filesNow()).toEqual(MERGED);
  expect(records()).toHaveLength(1);
  await expect(merge()).rejects.toMatchObject({ code: "APPLY_UNFINISHED" });
  expect(engine.catalog.operations.all("s1")).toEqual([]);
  const done = await continueUnfinished(client, engine);
  expect(engine.catalog.operations.all("s1")).toMatchObject([
    { id: done.operation, kind: "merge", undo: "id1" },
  ]);
  await expect(merge(true)).resolves.toMatchObject({ totals: { written: 0, deleted: 0 } });
});

test("a merge whose record cannot be removed is noted once, also when it is continued", async () => {
  const { engine, steps, merge, client } = twoBranches();
  let recordDir = "";
  steps.during("catalog.operations.insert", () => {
    recordDir = onlyRecord();
    fs.cpSync(recordDir, `${directory}/record`, { recursive: true });
  });
  await merge();
  fs.cpSync(`${directory}/record`, recordDir, { recursive: true });

  const done = await continueUnfinished(client, engine);

  expect(engine.catalog.operations.all("s1").map(({ id }) => id)).toEqual([done.operation]);
  expect(filesNow()).toEqual(MERGED);
});

test("what a killed daemon had only prepared is removed by the next merge, which begins anew", async () => {
  const { engine, steps, merge } = twoBranches();
  const prepared = Promise.withResolvers<void>();
  steps.answer("store.space.sync", () => {
    prepared.resolve();
    return new Promise(() => {});
  });
  void merge();
  await prepared.promise;
  expect(Object.keys(filesNow())).toContainEqual(expect.stringMatching(/^\.waypoint-apply/));
  steps.answer("store.space.sync", async () => {});
  engine.leases = new SerialQueues();

  await merge();

  expect(filesNow()).toEqual(MERGED);
  expect(records()).toEqual([]);
});

test("a session that does not run, and one of another origin, are refused before anything is captured", async () => {
  const branches = twoBranches();
  const { engine, steps, live, merge } = branches;
  const stranger = { ...SESSION, head: null };

  await expect(merge(false, stranger)).rejects.toMatchObject({ code: "LINEAGE_UNRELATED" });
  expectAsBefore(branches);
  engine.live.delete("s1", "s1-1");
  engine.catalog.updateSession("s1", { state: "stopped" });
  await expect(merge()).rejects.toMatchObject({ code: "SESSION_WRONG_STATE" });

  expect(steps.all).not.toContainEqual(expect.stringMatching(/^(criu|link)/));
  engine.catalog.updateSession("s1", { state: "running" });
  engine.live.set(live("s1", "s1-1"));
  expectAsBefore(branches);
});
