import { lutimesSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { noteStateDir } from "./state-dirs.ts";

const NOTES_MAX = 256;

let top: string;
let registryDir: string;

beforeEach(() => {
  top = mkdtempSync(path.join(os.tmpdir(), "waypoint-notes-"));
  registryDir = path.join(top, "notes");
  for (const name of ["notes", "one", "two"]) mkdirSync(path.join(top, name));
});

afterEach(() => rmSync(top, { recursive: true }));

/** What daemons of other mount namespaces have left, the first one first. */
function noteElsewhere(count: number): void {
  for (let number = 1; number <= count; number += 1) {
    const note = path.join(registryDir, `1-0-${number}`);
    symlinkSync("/gone", note);
    lutimesSync(note, number, number);
  }
}

function notes(): string[] {
  return readdirSync(registryDir);
}

test("notes of other mount namespaces are kept, but not for ever", () => {
  noteElsewhere(NOTES_MAX + 40);

  noteStateDir(path.join(top, "one"), registryDir);

  expect(notes()).toHaveLength(NOTES_MAX);
  const foreign = notes().filter((name) => name.startsWith("1-0-"));
  const numbers = foreign.map((name) => Number(name.split("-")[2])).sort((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: NOTES_MAX - 1 }, (_, index) => index + 42));
});

test("few notes of others stay, and a directory is noted once", () => {
  noteElsewhere(3);

  noteStateDir(path.join(top, "one"), registryDir);
  noteStateDir(path.join(top, "two"), registryDir);
  noteStateDir(path.join(top, "one"), registryDir);

  expect(notes()).toHaveLength(5);
});

test("the note of a directory that is gone goes", () => {
  noteStateDir(path.join(top, "one"), registryDir);
  rmSync(path.join(top, "one"), { recursive: true });

  noteStateDir(path.join(top, "two"), registryDir);

  expect(notes()).toHaveLength(1);
});
