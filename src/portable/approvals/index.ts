/**
 * approvals owns which steps a person has to approve: a policy that names commands, destinations and
 * methods, and reading a line of shell to find them in it.
 * It runs nothing and knows no machine.
 */
export { findHeldStep, type HeldStep } from "./find-held-step.ts";
export { type ApprovalPolicy, policyOf } from "./policy.ts";
