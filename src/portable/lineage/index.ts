/**
 * lineage owns the tree of checkpoints by parent: finding one by what a person typed, its
 * ancestors, and which of them others still need.
 * It changes nothing.
 */
export { ancestry, historyOf, removableCheckpoints, requireOwnHistory } from "./ancestry.ts";
export { pathBetween } from "./path-between.ts";
export { lineWithout } from "./remove-from-line.ts";
export {
  resolveCheckpoint,
  resolveMoment,
  resolveOnlyCheckpoint,
  resolveSession,
  standOf,
} from "./resolve-reference.ts";
