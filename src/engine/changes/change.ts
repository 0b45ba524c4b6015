import type { BigIntStats } from "node:fs";
import type { RawPath } from "../../base/index.ts";
import type { TargetPath } from "./target.ts";
import type { Version } from "./version.ts";

/** What must still be at a path when it is replaced, as text: numbers of lstat(2). */
export interface Identity {
  type: string;
  sizeBytes: string;
  mtimeNs: string;
  mode: number;
  owner: string;
}

/** One path that is to become something else. */
export interface Change {
  /** Number in the list; names what is made for it. */
  number: number;
  path: TargetPath;
  kind: "write" | "delete" | "mkdir" | "attributes";
  /** What is there now; `null` for nothing. */
  identity: Identity | null;
  before: Version | null;
  /** What will be there; `null` for nothing. Its content is read when it is staged. */
  after: Version | null;
  /** Content in place of that of `after`: two texts in one. */
  merged: Buffer | null;
  /** Name of other changes that are the same file: a hard link. */
  linkKey: string | null;
}

/** Where a change is made before it takes its place: a directory, and a name in it. */
export interface Stage {
  directory: TargetPath;
  name: RawPath;
}

/** A change that has what it needs beside its path; it can be written down, for it holds no content. */
export type StagedChange = Omit<Change, "merged"> & { stage: Stage };

/** Returns how the names begin under which one list of changes is made. */
export function stagedBeginning(id: string): string {
  return `.waypoint-apply-${id}-`;
}

/** Why a path cannot be reached any more. */
export const MOVED = "its directory was removed or moved meanwhile";

/** Thrown where a path is not what was seen before: somebody has changed it meanwhile. */
export class Changed extends Error {
  readonly path: TargetPath;
  /** In a few words. */
  readonly reason: string;

  constructor(path: TargetPath, reason = "it was changed meanwhile") {
    super(`${path}: ${reason}`);
    this.path = path;
    this.reason = reason;
  }
}

/** Returns what tells whether something was replaced or changed since. */
export function identityOf(status: BigIntStats, { type }: Version): Identity {
  const isDirectory = type === "directory";
  return {
    type,
    sizeBytes: isDirectory ? "" : String(status.size),
    mtimeNs: isDirectory ? "" : String(status.mtimeNs),
    mode: Number(status.mode) & 0o7777,
    owner: `${status.uid}:${status.gid}`,
  };
}

/** Tells whether two are the same, as far as can be told. */
export function isIdentical(one: Identity | null, other: Identity | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
