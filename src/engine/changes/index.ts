/**
 * changes owns putting changes into a tree of files: of the machine, or of a session that runs. Each
 * path is the old or the new one at every moment, no link leads out of the tree, and what fails
 * half-way is put back. What is to change, and whether it may, is for others to decide.
 */
export {
  type CarryOutOptions,
  carryOut,
  commitRest,
  finish,
  type Keeper,
  type Progress,
  PutBack,
  putBack,
  type SkippedChange,
} from "./carry-out.ts";
export {
  type Change,
  Changed,
  type Identity,
  identityOf,
  type Stage,
  type StagedChange,
} from "./change.ts";
export { explainFailure } from "./explain-failure.ts";
export { removeStaleBeside } from "./revert.ts";
export type { KeptFiles } from "./stage.ts";
export { parentOf, type Seen, statusOf, Target, type TargetPath } from "./target.ts";
export {
  digestOf,
  hasSameContent,
  hasSameOwner,
  hasSameXattrs,
  isSame,
  linkTargetOf,
  type Version,
  versionAt,
  versionOfEntry,
} from "./version.ts";
