import { type Changes, type FileTotals, isFileNoise } from "../../../shared/protocol/index.ts";
import { NOTHING_TOLD, type SummaryPart } from "../section.ts";
import { filesThatMatter, isOfPackages } from "./files-that-matter.ts";

/** Files that the summary names. */
const NAMED_MAX = 3;
const SIGNS = { added: "+", modified: "~", deleted: "−", renamed: "→" } as const;

type Counted = keyof typeof SIGNS;

/**
 * Returns files in brief: "~ config.json", "− data/shop.db", then "+3 ~12 files".
 *
 * What programs keep for themselves is not told: caches, git's own files, editors' files, locks.
 */
export function summarizeFiles(changes: Changes): SummaryPart {
  const { files, fileTotals } = changes;
  if (files === null || fileTotals === null) return NOTHING_TOLD;
  const named = filesThatMatter(changes).slice(0, NAMED_MAX);
  const left = { ...fileTotals };
  for (const { totals, group } of files) if (group !== undefined) subtract(left, totals);
  const single = files.filter(({ group, type }) => group === undefined && type !== "directory");
  for (const file of single) {
    if (isFileNoise(file.path) || isOfPackages(file, changes)) left[file.change] -= 1;
  }
  // A directory that stands for its files is none of them.
  for (const { change, name } of named) if (!name.endsWith("/")) left[change] -= 1;
  const names = named.map(({ change, name }) =>
    change === "renamed" ? name : `${SIGNS[change]} ${name}`,
  );
  return {
    named: names,
    counted: countOthers(left, { isTold: names.length + (changes.packages ?? []).length > 0 }),
  };
}

function subtract(left: FileTotals, totals: FileTotals | undefined): void {
  for (const key of Object.keys(left) as (keyof FileTotals)[]) left[key] -= totals?.[key] ?? 0;
}

function countOthers(left: FileTotals, { isTold }: { isTold: boolean }): string[] {
  const kinds = (Object.keys(SIGNS) as Counted[]).filter((kind) => left[kind] > 0);
  const sum = kinds.reduce((all, kind) => all + left[kind], 0);
  const signs = kinds.map((kind) => `${SIGNS[kind]}${left[kind].toLocaleString("en")}`);
  if (sum > 0) return [`${signs.join(" ")} ${sum === 1 ? "file" : "files"}`];
  if (isTold || left.directories <= 0) return [];
  return [`${left.directories} ${left.directories === 1 ? "directory" : "directories"}`];
}
