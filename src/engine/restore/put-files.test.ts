import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fromText } from "../../base/index.ts";
import * as kernel from "../../linux/kernel/index.ts";
import type { FileType } from "../../shared/protocol/index.ts";
import type { TreeEntry } from "../moment/index.ts";
import type { FileAction } from "./file-actions.ts";
import { putFiles, removeUnfinished } from "./put-files.ts";

const LONG_AGO = new Date("2001-02-03T04:05:06Z");
const JOB = { pid: process.pid, id: "op7" };

let root: string;
const at = (...names: string[]) => path.join(root, ...names);

beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), "waypoint-put-"));
  for (const name of ["now/kept", "now/gone", "then/kept", "then/back"]) {
    mkdirSync(at(name), { recursive: true });
  }
  for (const name of ["now/file", "now/gone/in", "now/other"]) writeFileSync(at(name), "now\n");
  for (const name of ["then/file", "then/back/in"]) writeFileSync(at(name), "then\n");
  linkSync(at("then/file"), at("then/twin"));
  for (const name of ["then/kept", "then/back"]) utimesSync(at(name), LONG_AGO, LONG_AGO);
});

afterEach(() => rmSync(root, { recursive: true }));

function entry(place: string): TreeEntry {
  const status = lstatSync(place, { bigint: true });
  const { mtimeNs } = status;
  const [mode, uid, gid, sizeBytes] = [status.mode, status.uid, status.gid, status.size].map(
    Number,
  );
  const type: FileType = status.isDirectory() ? "directory" : "file";
  const rights = { mode: (mode ?? 0) & 0o7777, uid: uid ?? 0, gid: gid ?? 0 };
  const facts = {
    device: 0,
    sizeBytes: sizeBytes ?? 0,
    mtimeNs,
    upperInode: null,
    directory: null,
  };
  return { type, ...rights, ...facts, hostPath: fromText(place) };
}

/** What is to be at a path of `now` again: what `then` has, or nothing. */
function action(name: string, wanted: "then" | null = "then"): FileAction {
  const want = wanted === null ? null : entry(at(wanted, name));
  return { rawPath: fromText(at("now", name)), have: null, want };
}

test("what comes is there with its names and times, what goes is gone, and both are counted", async () => {
  const back = ["back", "back/in", "file", "kept", "twin"].map((name) => action(name));
  const result = await putFiles(
    [...back, action("gone", null), action("gone/in", null)],
    JOB,
    kernel,
  );

  expect(result).toEqual({ put: 5, removed: 2, leftOut: [], leftOutCount: 0 });
  expect(readdirSync(at("now")).sort()).toEqual(["back", "file", "kept", "other", "twin"]);
  expect(lstatSync(at("now/file")).ino).toBe(lstatSync(at("now/twin")).ino);
  for (const name of ["back", "kept"]) expect(lstatSync(at("now", name)).mtime).toEqual(LONG_AGO);
});

test("what is gone already, of another kind by now, or a socket is not counted", async () => {
  rmSync(at("now/file"));
  mkdirSync(at("now/file"));
  const socket = {
    ...action("twin"),
    want: { ...entry(at("then/twin")), type: "socket" } as const,
  };
  const result = await putFiles([action("file"), socket, action("nothing", null)], JOB, kernel);

  expect(result).toMatchObject({ put: 0, removed: 0, leftOutCount: 2 });
  expect(result.leftOut.map(({ reason }) => reason)).toEqual([
    "a socket is not copied",
    "something else was put in its place meanwhile",
  ]);
});

test("a directory that others have put something in stays, and is named", async () => {
  const { removed, leftOut } = await putFiles([action("gone", null)], JOB, kernel);

  expect(removed).toBe(0);
  expect(leftOut).toMatchObject([{ reason: "there is something else in it" }]);
  expect(readFileSync(at("now/gone/in"), "utf8")).toBe("now\n");
});

test("where the kernel refuses one path, all others are as they were", async () => {
  const before = readdirSync(at("now"));
  const tooLong = { ...action("file"), rawPath: fromText(at("now", "n".repeat(300))) };
  const request = putFiles([action("file"), tooLong, action("other", null)], JOB, kernel);

  await expect(request).rejects.toMatchObject({
    code: "FILE_FAILED",
    message: expect.stringContaining("each file is the old or the new one"),
  });
  expect(readdirSync(at("now"))).toEqual(before);
  expect(readFileSync(at("now/file"), "utf8")).toBe("now\n");
});

test("what a dead daemon had made beside the paths goes, and nothing else", async () => {
  mkdirSync(at("now/.waypoint-apply-op7-1"));
  for (const name of ["kept/.waypoint-apply-op7-2", ".waypoint-apply-op70-1"]) {
    writeFileSync(at("now", name), "");
  }
  await removeUnfinished([action("kept/new/in", null).rawPath], JOB, kernel);

  expect(readdirSync(at("now/kept"))).toEqual([]);
  expect(readdirSync(at("now")).sort()).toEqual([
    ".waypoint-apply-op70-1",
    ...["file", "gone", "kept", "other"],
  ]);
});
