import { expect, test } from "vitest";
import type { FileChange, Story, StoryCommand } from "../../shared/protocol/index.ts";
import { indexEntry } from "./index-entry.ts";

const COMMAND: StoryCommand = {
  ...{ command: "", by: "exec", startedAt: "2026-03-04T14:00:00.000Z", durationMs: 1, exitCode: 0 },
  ...{ outputBytes: 0, output: "" },
};
const SIZES = { sizeBefore: null, sizeAfter: 1 };

function story(facts: Partial<Story["changes"]>, more: Partial<Story> = {}): Story {
  return {
    checkpoint: "aa",
    changes: {
      summary: "+1 file",
      files: [],
      fileTotals: null,
      packages: [],
      unknown: {},
      ...facts,
    },
    ...{ intent: null, commands: [], unknown: {}, ...more },
  } as unknown as Story;
}

test("paths, groups and renamed directories are noted as what they stand for", () => {
  const files: FileChange[] = [
    { path: "/a", change: "added", type: "file", ...SIZES },
    { path: "/new", from: "/old", change: "renamed", type: "directory", ...SIZES },
    { path: "/y", from: "/x", change: "renamed", type: "file", ...SIZES },
    { path: "/n", change: "added", type: "directory", group: "cache", files: 3, ...SIZES },
  ];

  expect(indexEntry(story({ files })).touched).toEqual([
    { kind: "path", name: "/a" },
    { kind: "folder", name: "/new" },
    { kind: "folder", name: "/old" },
    { kind: "path", name: "/y" },
    { kind: "path", name: "/x" },
    { kind: "folder", name: "/n" },
  ]);
});

test("sections that are unknown, or not whole, are noted as such", () => {
  const totals = { added: 5, modified: 0, deleted: 0, renamed: 0, directories: 0 };
  const unknownOf = (given: Story) =>
    indexEntry(given)
      .touched.filter(({ kind }) => kind === "unknown")
      .map(({ name }) => name);

  expect(unknownOf(story({}))).toEqual([]);
  expect(unknownOf(story({ files: null, packages: null }, { commands: null }))).toEqual([
    "files",
    "packages",
    "commands",
  ]);
  expect(unknownOf(story({ fileTotals: totals }))).toEqual(["files"]);
  expect(unknownOf(story({ unknown: { "packages in /srv": "broken" } }))).toEqual(["packages"]);
});

test("commands, what they printed without colours, the intent and commits can be searched", () => {
  const git = [{ commits: [{ subject: "Fix The Port" }] }] as unknown as Story["changes"]["git"];
  const commands = [
    { ...COMMAND, command: "npm test", output: "\u001b[31mFA\u001b[0mIL" },
    { ...COMMAND, command: "make" },
  ];
  const intent = { text: "Green", source: "given" } as const;

  expect(indexEntry(story({ git }, { commands, intent })).text).toBe(
    "green\nfix the port\nnpm test\nmake\nfail",
  );
});

test("of much output the newest is noted, and the commands always", () => {
  const long = { ...COMMAND, command: "old", output: "x".repeat(100_000) };
  const newest = { ...COMMAND, command: "new", output: "y".repeat(100_000) };

  const { text } = indexEntry(story({}, { commands: [long, newest] }));

  expect(text).toHaveLength(128 * 1024);
  expect(text.startsWith(`old\nnew\n${"y".repeat(100_000)}`)).toBe(true);
});
