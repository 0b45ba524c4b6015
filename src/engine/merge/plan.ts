import type { Change, TargetPath, Version } from "../changes/index.ts";

/** One path that is to become what the other side has. */
export interface DesiredChange {
  path: TargetPath;
  /**
   * What both sides started from: `unknown` where nothing tells, `ours` where the target is known
   * to be as it was.
   */
  base: Version | null | "unknown" | "ours";
  /** Of a base that is `ours`: when the target was last changed (nanoseconds). */
  ctimeNs: bigint | null;
  theirs: Version | null;
  /** What an earlier apply of the same line has left here; a target that is like it is its own work. */
  applied?: Version | null | undefined;
  /** Asked where the two sides cannot be joined otherwise. */
  settle?: (ours: Version | null) => Promise<Settled | null>;
  /** Name of other changes that are the same file: a hard link. */
  linkKey: string | null;
}

/** What else is known of a path: what both sides come from, or which one has all that is to be kept. */
export type Settled =
  | { base: Version }
  | { keep: "ours"; note: string | null }
  | { keep: "theirs" };

/** Why the two sides cannot be joined. */
export type ConflictKind = "both-changed" | "both-added" | "changed-deleted" | "kind" | "blocked";

/** A path that both sides changed, each in its way. */
export interface Conflict {
  path: TargetPath;
  kind: ConflictKind;
  /** In a sentence. */
  why: string;
}

/** One change of a plan, and what it comes from. */
export interface Step extends Change {
  /**
   * What the other side had where `after` has what both have made: the next one starts from it. Its
   * text is that which `after` had before it was joined.
   */
  joinedFrom: Version | null;
  /** Replaces what somebody else has made, since that was asked for. */
  isForced: boolean;
  /** A directory that is kept where others have put something in. */
  isOptional: boolean;
}

/** All that is to be done, in an order in which it can be. */
export interface Plan {
  steps: Step[];
  conflicts: Conflict[];
  /** Paths on which both sides agree already. */
  sameCount: number;
  /** What is done otherwise than the other side has it, each with why. */
  notes: { path: TargetPath; reason: string }[];
}
