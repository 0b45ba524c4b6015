/**
 * approval owns the gate before steps that nobody takes back: whether one is held, the checkpoint before
 * it, the wait for a person, and that what was approved runs once.
 */
export { describeApproval } from "./describe-approval.ts";
export { requireNotHeld } from "./require-not-held.ts";
export { settleApproval } from "./settle-approval.ts";
export { watchApprovals } from "./watch-approvals.ts";
export { withApproval } from "./with-approval.ts";
