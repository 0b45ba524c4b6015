/**
 * merge owns taking work over, three-way: out of a session into the real files of the machine, and
 * from one branch into another. Nothing that somebody else has changed is lost unasked, and every
 * file is the old one or the new one at every moment. docs/going-back.md tells how to use it.
 */
export { applyCheckpoint } from "./apply/apply-checkpoint.ts";
export { undoApply } from "./apply/undo-apply.ts";
export { carryOut, putBack, resume } from "./carry-out.ts";
export { isText, TEXT_BYTES_MAX } from "./is-text.ts";
export { Journal } from "./journal.ts";
export { makePlan } from "./make-plan.ts";
export { abortUnfinished, continueUnfinished } from "./recover.ts";
export { mergeCheckpoint } from "./sessions/merge-checkpoint.ts";
