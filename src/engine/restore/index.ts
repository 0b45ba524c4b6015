/**
 * undoing owns what a person is told before and after a restore, putting parts of a checkpoint
 * back, taking back what happened between two checkpoints, and the undo of each operation.
 * Restoring a whole checkpoint is src/engine/checkpoint's; how files are written src/engine/files's.
 * docs/going-back.md walks through it.
 */
export { type AskedParts, resolveParts } from "./file-scope.ts";
export { listOperations } from "./list-operations.ts";
export { planRestore } from "./plan-restore.ts";
export { restoreSession } from "./restore-session.ts";
export { planRevert, revertChanges } from "./revert-changes.ts";
export { settleInterrupted } from "./settle-interrupted.ts";
export { undoOperation } from "./undo-operation.ts";
