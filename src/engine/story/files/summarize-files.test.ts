import { expect, test } from "vitest";
import type { FileChange, FileTotals } from "../../../shared/protocol/index.ts";
import { nothingKnown } from "../compare-moments.ts";
import { summarizeFiles } from "./summarize-files.ts";

const NONE: FileTotals = { added: 0, modified: 0, deleted: 0, renamed: 0, directories: 0 };

function group(name: string, totals: Partial<FileTotals>): FileChange {
  const whole = { ...NONE, ...totals };
  const files = whole.added + whole.modified + whole.deleted + whole.renamed;
  return {
    ...{ path: `/${name}`, change: "modified", type: "directory", sizeBefore: 0, sizeAfter: 0 },
    ...{ group: name, files, totals: whole },
  };
}

function summary(totals: Partial<FileTotals>, groups: FileChange[] = []): string | null {
  const fileTotals = { ...NONE, ...totals };
  return summarizeFiles({ ...nothingKnown(""), files: groups, fileTotals });
}

test("files are told in brief", () => {
  expect(summary({ added: 3, modified: 12, deleted: 1 })).toBe("+3 ~12 −1 files");
  expect(summary({ added: 1, directories: 4 })).toBe("+1 file");
  expect(summary({ renamed: 1, modified: 1 })).toBe("~1 file, 1 renamed");
  expect(summary({ directories: 1 })).toBe("1 directory");
  expect(summary({})).toBeNull();
});

test("noise is counted by itself, the largest groups by name", () => {
  const groups = [
    group("git", { modified: 2 }),
    group("node_modules", { added: 1204, directories: 90 }),
    group("cache", { added: 1 }),
  ];

  expect(summary({ added: 1206, modified: 3, directories: 91 }, groups)).toBe(
    "+1 ~1 files, node_modules 1,204, git 2, other noise 1",
  );
});

test("nothing is told of files that are unknown", () => {
  expect(summarizeFiles(nothingKnown("broken"))).toBeNull();
});
