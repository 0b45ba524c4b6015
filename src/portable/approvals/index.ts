/**
 * approvals owns which steps a person has to approve: a policy that names commands, destinations and
 * methods, reading a line of shell to find them in it, and what a log of approvals does; sqlite/ keeps it.
 * It runs nothing and knows no machine.
 */
export type { Approval, ApprovalLog, ApprovalMove } from "./approval-log.ts";
export { findHeldStep } from "./find-held-step.ts";
export { type ApprovalPolicy, policyOf } from "./policy.ts";
