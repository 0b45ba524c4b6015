import type { RawPath } from "../../../base/index.ts";
import type { FileChange } from "../../../shared/protocol/index.ts";
import type { TreeEntry } from "./overlay-tree.ts";

/** What changed of a file that is still there. */
export type Aspect = NonNullable<FileChange["what"]>[number];

/** One path that differs, with what was there before and is there after. */
export interface RawChange {
  change: FileChange["change"];
  /** Path after; of what was deleted, the path before. */
  path: RawPath;
  /** Path before a rename. */
  from: RawPath | null;
  before: TreeEntry | null;
  after: TreeEntry | null;
  what: Aspect[];
}
