/**
 * text-tools owns the machine's programs that compare, join and search texts: diff, git, diff3, grep.
 * They run in a fixed language, with bounds of time, and read nobody's configuration.
 */
export { diffFiles } from "./diff-files.ts";
export type { GrepLine } from "./match-lines.ts";
export { type MergedText, mergeTexts, type ThreeTexts } from "./merge-texts.ts";
export { type GrepFile, type Pattern, search } from "./run-grep.ts";
export { writePatch } from "./write-patch.ts";
