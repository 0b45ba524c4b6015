import { formatCount } from "../text/quantities.ts";
import { matchesGlob } from "./match-glob.ts";

/** How files are counted at the end of a summary: "+3 ~12 files". */
const COUNT = /^(?:[+~−→][\d,]+ )+files?$/;
/** A file that is named: "~ config.json". */
const NAMED = /^([+~−]) (.+)$/;
/** One that was renamed: "old.js → new.js". */
const RENAMED = /^(.+) → (.+)$/;
const SIGNS = ["+", "~", "−", "→"] as const;
const PART_END = ", ";

/**
 * Returns what came of a checkpoint without the names of files that are noise, which are counted
 * with the others: nobody's glob makes a change vanish.
 *
 * A name is as the summary has it: below the shell's directory or a repository, or its last part.
 */
export function hideNoise(summary: string, globs: readonly string[]): string {
  if (globs.length === 0 || summary === "") return summary;
  const counts = new Map<string, number>();
  const kept: string[] = [];
  let hasHidden = false;
  for (const part of summary.split(PART_END)) {
    const sign = hiddenSign(part, globs);
    hasHidden ||= sign !== null;
    if (sign !== null) counts.set(sign, (counts.get(sign) ?? 0) + 1);
    else if (COUNT.test(part)) readCounts(part, counts);
    else kept.push(part);
  }
  return hasHidden ? [...kept, writeCounts(counts)].join(PART_END) : summary;
}

/** Returns how a named file that is noise is counted; `null` for all else. */
function hiddenSign(part: string, globs: readonly string[]): string | null {
  const isNoise = (name: string) => globs.some((glob) => matchesGlob(glob, name));
  const [, sign = "", name = ""] = NAMED.exec(part) ?? [];
  if (name !== "") return isNoise(name) ? sign : null;
  const [, from = "", to = ""] = RENAMED.exec(part) ?? [];
  return to !== "" && isNoise(from) && isNoise(to) ? "→" : null;
}

function readCounts(part: string, counts: Map<string, number>): void {
  for (const [, sign = "", digits = ""] of part.matchAll(/([+~−→])([\d,]+)/g)) {
    counts.set(sign, (counts.get(sign) ?? 0) + Number(digits.replaceAll(",", "")));
  }
}

function writeCounts(counts: ReadonlyMap<string, number>): string {
  const told = SIGNS.filter((sign) => counts.has(sign));
  const sum = [...counts.values()].reduce((all, count) => all + count, 0);
  const signs = told.map((sign) => `${sign}${formatCount(counts.get(sign) ?? 0)}`);
  return `${signs.join(" ")} ${sum === 1 ? "file" : "files"}`;
}
