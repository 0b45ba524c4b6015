import type { Approval } from "../../portable/approvals/index.ts";
import type { ApprovalInfo } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";

/** Returns a step as clients are told of it. */
export function describeApproval(
  approval: Approval,
  { approvalWaits }: Pick<Engine, "approvalWaits">,
): ApprovalInfo {
  const { instance: _i, fingerprint: _f, ...told } = approval;
  return { ...told, isWaitedFor: approvalWaits.has(approval.id) };
}
