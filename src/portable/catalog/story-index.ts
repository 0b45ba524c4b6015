import type { StoryRow } from "../model/index.ts";

/**
 * What a checkpoint has touched: a path, a folder that stands for all that lies below it (a group, a
 * renamed directory), or a package; `unknown` names a section that could not be read, or not whole.
 */
export type TouchedKind = "path" | "folder" | "package" | "unknown";

/** A story as the index takes it. */
export interface StoryEntry extends StoryRow {
  touched: readonly { kind: TouchedKind; name: string }[];
  /** What can be searched, in lower case. */
  text: string;
}

/**
 * What the timeline shows of stories and finds them by, in the catalog.
 *
 * Nothing here waits for the disk: what is lost with the power is written again from the stories.
 */
export interface StoryIndex {
  all(): StoryRow[];

  of(checkpoint: string): StoryRow | undefined;

  /** Notes a story in place of what was noted of it before. */
  put(row: StoryEntry): void;

  delete(checkpoint: string): void;

  /** Says how often building a story took too much, and what it took the last time. */
  overBudget(checkpoint: string): { count: number; reason: string } | undefined;

  noteOverBudget(checkpoint: string, reason: string): void;

  /** Lists the checkpoints of which nothing is noted, or not all that is noted now; newest first. */
  missing(): string[];

  /**
   * Returns the checkpoints that touched what a path or a pattern names.
   *
   * `*` fits any characters, slashes too; what does not begin at the root may lie anywhere.
   */
  touchingPath(path: string): Set<string>;

  /** Returns the checkpoints that touched packages of this name; `*` and `?` fit any others. */
  touchingPackage(name: string): Set<string>;

  /** Returns the checkpoints of which a section is unknown, or a part of it. */
  unknown(section: "files" | "packages" | "commands"): Set<string>;

  /** Returns the checkpoints in whose text this one occurs, in whatever case. */
  saying(text: string): Promise<Set<string>>;
}
