import type { Approval } from "../../portable/approvals/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Engine } from "../ports/index.ts";

/**
 * Notes a person's answer, and tells whoever waits for it. Of two answers the first holds.
 *
 * @throws APPROVAL_SETTLED  it does not wait any more.
 */
export function settleApproval(
  { id }: Approval,
  { state, why }: { state: "approved" | "denied"; why: string | null },
  { approvals, approvalWaits, redact }: Pick<Engine, "approvals" | "approvalWaits" | "redact">,
): Approval {
  const now = new Date().toISOString();
  approvals.expire(now);
  const answer = { state, settledAt: now, why: why === null ? null : redact(why) };
  const isFirst = approvals.move(id, "waiting", answer);
  const settled = approvals.get(id) as Approval;
  if (!isFirst) {
    throw new WaypointError(
      "APPROVAL_SETTLED",
      `Step ${id} does not wait: it is ${settled.state}.`,
      {
        hint: "`waypoint approvals` lists the steps that wait.",
        detail: { approval: id, state: settled.state },
      },
    );
  }
  approvalWaits.tell(id);
  return settled;
}
