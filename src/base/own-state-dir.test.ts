import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { closeToOthers, requireOwnStateDir } from "./own-state-dir.ts";

const isRoot = process.geteuid?.() === 0;
let top: string;
beforeEach(() => {
  top = mkdtempSync(path.join(os.tmpdir(), "waypoint-own-"));
});
afterEach(() => rmSync(top, { recursive: true }));

function make(name: string, mode: number): string {
  const directory = path.join(top, name);
  mkdirSync(directory);
  chmodSync(directory, mode);
  return directory;
}

test.each([
  ["one of mode 755", () => make("state", 0o755)],
  ["one that is not there", () => path.join(top, "a/b/c")],
  ["one in a sticky directory", () => path.join(make("tmp", 0o1777), "state")],
])("%s is taken", (_what, stateDir) => {
  expect(() => requireOwnStateDir(stateDir())).not.toThrow();
});

test.each([
  ["one that all can write", () => make("state", 0o777)],
  ["one that is sticky, and that all can write", () => make("state", 0o1777)],
  ["one in a directory that all can write", () => path.join(make("open", 0o777), "state")],
  [
    "one behind a link into such a directory",
    () => {
      symlinkSync(make("open", 0o777), path.join(top, "link"));
      mkdirSync(path.join(top, "open/state"));
      return path.join(top, "link/state");
    },
  ],
])("%s is refused", (_what, stateDir) => {
  // The parts of it that are there decide.
  const wanted = stateDir();
  expect(() => requireOwnStateDir(wanted)).toThrow(
    expect.objectContaining({ code: "USAGE_INVALID" }),
  );
});

test.runIf(isRoot)(
  "one of another user is refused, and so is one below a directory of theirs",
  () => {
    const theirs = make("theirs", 0o755);
    const own = path.join(theirs, "state");
    mkdirSync(own);
    chownSync(theirs, 12_345, 12_345);

    for (const each of [theirs, own]) {
      expect(() => requireOwnStateDir(each)).toThrow("belongs to the user with the number 12345");
    }
  },
);

test("what lies in one is closed to others", () => {
  const state = make("state", 0o755);
  writeFileSync(path.join(state, "catalog.sqlite"), "", { mode: 0o644 });
  mkdirSync(path.join(state, "failed"), { mode: 0o755 });
  writeFileSync(path.join(state, "failed", "log"), "", { mode: 0o644 });

  closeToOthers(state, [path.join(state, "failed")]);

  const modes = ["", "catalog.sqlite", "failed", "failed/log"].map(
    (name) => statSync(path.join(state, name)).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o600, 0o700, 0o600]);
});
