/**
 * restore owns putting back: a whole checkpoint in place, parts of it, what happened between two of them,
 * the undo of each operation, and what a person is told before and after.
 *
 * docs/ARCHITECTURE.md tells the life of a restore, docs/going-back.md walks through it.
 */

export { type AskedParts, resolveParts } from "./file-scope.ts";
export { listOperations } from "./list-operations.ts";
export { planRestore } from "./plan-restore.ts";
export { restoreSession } from "./restore-session.ts";
export { planRevert, revertChanges } from "./revert-changes.ts";
export { settleInterrupted } from "./settle-interrupted.ts";
export { undoOperation } from "./undo-operation.ts";
