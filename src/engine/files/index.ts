/**
 * files owns bringing files back from any moment: reading and copying them, copying into a live
 * session, mounting a moment for a look, and searching across checkpoints.
 * Links of a session never lead out of it, and names are bytes. docs/files.md tells the rules.
 */
export { Browses } from "./browse/browses.ts";
export { catFiles } from "./cat-files.ts";
export { copyAttributes, secondsOf, xattrsOf } from "./copy/copy-attributes.ts";
export { copyContent } from "./copy/copy-content.ts";
export { copyFiles, copyTargetOf } from "./copy/copy-files.ts";
export { CopyJob } from "./copy/copy-job.ts";
export { makeCopy, type NameAt, placeOf } from "./copy/make-copy.ts";
export { type OpenDirectory, Root, requireDirectory } from "./copy/root.ts";
export { grepCheckpoints } from "./grep/grep-checkpoints.ts";
export { givenPath } from "./place.ts";
