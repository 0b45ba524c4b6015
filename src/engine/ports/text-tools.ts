import type { RawPath } from "../../base/index.ts";
import type {
  GrepFile,
  GrepLine,
  MergedText,
  Pattern,
  ThreeTexts,
} from "../../linux/text-tools/index.ts";

/** Programs that compare, join and search texts. */
export interface TextTools {
  /** Returns how two open texts differ, as a unified diff; empty where they do not. */
  diffFiles(
    fds: readonly [number, number],
    labels: readonly [string, string],
    signal: AbortSignal,
  ): Promise<string>;
  /** Joins two texts with a common base, line by line. @throws TOOL_FAILED */
  mergeTexts(texts: ThreeTexts, scratchDir: string): Promise<MergedText>;
  /** Writes how the directories `a` and `b` in `scratchDir` differ. @throws TOOL_FAILED */
  writePatch(scratchDir: string, patchPath: string): Promise<void>;
  search(pattern: Pattern, signal: AbortSignal): TextSearch;
}

/** One search for a pattern. */
export interface TextSearch {
  /** @throws USAGE_INVALID  the pattern is none. */
  check(): Promise<void>;
  /** Returns which files match, binary ones too, and what could not be searched. */
  filesWith(files: readonly GrepFile[]): Promise<{ found: Set<RawPath>; complaint: string }>;
  /** Tells the lines that match of files that are text. */
  linesOf(files: readonly GrepFile[], onLine: (line: GrepLine) => Promise<void>): Promise<string>;
  linesIn(text: string): Promise<GrepLine[]>;
}
