import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { StoryEntry } from "../story-index.ts";
import { SqliteCatalog } from "./catalog.ts";

let directory: string;
let catalog: SqliteCatalog;

function entry(checkpoint: string, facts: Partial<StoryEntry>): StoryEntry {
  return {
    ...{ checkpoint, summary: "", intent: null, intentSource: null, touched: [], text: "" },
    ...{ intentExitCode: null, failedAfter: null, failedAfterExitCode: null },
    ...facts,
  };
}

beforeAll(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-index-"));
  catalog = SqliteCatalog.open(path.join(directory, "catalog.sqlite"), () => {});
  catalog.stories.put(
    entry("one", {
      touched: [
        { kind: "path", name: "/srv/app/main.ts" },
        { kind: "path", name: "/srv/app-old/main.ts" },
        { kind: "package", name: "left-pad" },
      ],
      text: "npm test\nok 1\nschön",
    }),
  );
  catalog.stories.put(
    entry("two", {
      touched: [
        { kind: "folder", name: "/srv/app/node_modules" },
        { kind: "path", name: "/etc/a\nb [x]" },
        { kind: "package", name: "@types/Node" },
        { kind: "unknown", name: "files" },
      ],
      text: "make\n100% done_now",
    }),
  );
});

afterAll(() => {
  catalog[Symbol.dispose]();
  rmSync(directory, { recursive: true });
});

function touching(wanted: string): string[] {
  return [...catalog.stories.touchingPath(wanted)].toSorted();
}

test("a path is found itself and by what lies below it, but not by a namesake's beginning", () => {
  expect(touching("/srv/app/main.ts")).toEqual(["one"]);
  expect(touching("/srv/app")).toEqual(["one", "two"]);
  expect(touching("/srv/app/")).toEqual(["one", "two"]);
  expect(touching("/srv/ap")).toEqual([]);
  expect(touching("/")).toEqual(["one", "two"]);
});

test("a folder that stands for many is found by what lies below it", () => {
  expect(touching("/srv/app/node_modules/left-pad/index.js")).toEqual(["two"]);
  expect(touching("/srv/app/node_modules/left-pad/*.js")).toEqual(["two"]);
  expect(touching("/srv/app/main.ts/below")).toEqual([]);
});

test("a pattern fits any characters, and one that does not begin at the root lies anywhere", () => {
  expect(touching("*.ts")).toEqual(["one"]);
  expect(touching("/srv/*/main.ts")).toEqual(["one"]);
  expect(touching("main.ts")).toEqual(["one"]);
  expect(touching("app-old/main.ts")).toEqual(["one"]);
  expect(touching("ain.ts")).toEqual([]);
  expect(touching("/etc/a?b*")).toEqual(["two"]);
  expect(touching("/etc/a\nb [x]")).toEqual(["two"]);
  expect(touching("b [x]")).toEqual([]);
  expect(touching("a\nb [x]")).toEqual(["two"]);
  expect(touching("./app//main.ts")).toEqual(["one"]);
});

test("packages are found in whatever case, by name or pattern", () => {
  expect([...catalog.stories.touchingPackage("LEFT-PAD")]).toEqual(["one"]);
  expect([...catalog.stories.touchingPackage("@types/*")]).toEqual(["two"]);
  expect([...catalog.stories.touchingPackage("left")]).toEqual([]);
});

test("text is found as it is, in whatever case; nothing in it is a pattern", async () => {
  expect([...(await catalog.stories.saying("NPM Test\nok"))]).toEqual(["one"]);
  expect([...(await catalog.stories.saying("SCHÖN"))]).toEqual(["one"]);
  expect([...(await catalog.stories.saying("0% d"))]).toEqual(["two"]);
  expect([...(await catalog.stories.saying("%"))]).toEqual(["two"]);
  expect([...(await catalog.stories.saying("o_1"))]).toEqual([]);
});

test("what was noted before is replaced, and what is deleted is found no more", async () => {
  const { stories } = catalog;
  stories.put(entry("three", { touched: [{ kind: "path", name: "/a" }], text: "first" }));
  stories.put(entry("three", { touched: [{ kind: "path", name: "/b" }], text: "second" }));

  expect([touching("/a"), touching("/b")]).toEqual([[], ["three"]]);
  expect([...(await stories.saying("first"))]).toEqual([]);

  stories.delete("three");
  expect(touching("/b")).toEqual([]);
  expect([...(await stories.saying("second"))]).toEqual([]);
  expect(stories.of("three")).toBeUndefined();
});

test("who has an unknown section is known", () => {
  expect([...catalog.stories.unknown("files")]).toEqual(["two"]);
  expect([...catalog.stories.unknown("packages")]).toEqual([]);
});

test("stories that took too much are counted until they are noted or their checkpoint is removed", () => {
  const { stories } = catalog;
  expect(stories.overBudget("heavy")).toBeUndefined();
  stories.noteOverBudget("heavy", "it took longer than 120 s");
  stories.noteOverBudget("heavy", "its process ended");

  expect({ ...stories.overBudget("heavy") }).toEqual({ count: 2, reason: "its process ended" });
  stories.put(entry("heavy", {}));
  expect(stories.overBudget("heavy")).toBeUndefined();
});
