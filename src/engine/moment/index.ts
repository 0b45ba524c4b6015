/**
 * moment owns reading and comparing moments: a checkpoint, a live session, a fresh one; their files and trees.
 */

export { BaseChanges, isLiveBase, takenAtMs } from "./base/base-changes.ts";
export { type BaseVersion, writeBaseVersions } from "./base/base-versions.ts";
export { FirstViews } from "./base/first-views.ts";
export type { CompareScope, MomentPair, ReadContext } from "./compare-context.ts";
export { type BothFiles, type FoundChanges, findFileChanges } from "./files/find-file-changes.ts";
export { MomentFiles, openEntry, readEntry } from "./files/moment-files.ts";
export { linkTarget, type TreeEntry } from "./files/overlay-tree.ts";
export type { RawChange } from "./files/raw-change.ts";
export { haveSameAttributes } from "./files/same-content.ts";
export { openFresh } from "./fresh-moment.ts";
export { type Moment, type MomentRef, openCheckpoint, openMoment } from "./moment.ts";
export { Pace } from "./pace.ts";
export type { ReadingEngine, ReadingSettings } from "./reading-engine.ts";
export { requirePath } from "./require-path.ts";
