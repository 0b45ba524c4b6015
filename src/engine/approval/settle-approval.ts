import type { Approval } from "../../portable/approvals/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Caller } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";

/**
 * Notes a person's answer, and tells whoever waits for it. Of two answers the first holds.
 *
 * @throws APPROVAL_SETTLED  it does not wait any more.
 */
export function settleApproval(
  { id }: Approval,
  { state, why, by }: { state: "approved" | "denied"; why: string | null; by: Caller },
  { approvals, approvalWaits, redact }: Pick<Engine, "approvals" | "approvalWaits" | "redact">,
): Approval {
  const at = new Date().toISOString();
  approvals.expire(at);
  const answer = { state, settledAt: at, answeredBy: by, why: why && redact(why) };
  const isFirst = approvals.move(id, "waiting", answer);
  const settled = approvals.get(id) as Approval;
  if (!isFirst) {
    const { state: now, answeredBy } = settled;
    throw new WaypointError("APPROVAL_SETTLED", `Step ${id} does not wait: it is ${now}.`, {
      hint: "`waypoint approvals` lists the steps that wait, and who answered the others.",
      detail: { approval: id, state: now, answeredBy },
    });
  }
  approvalWaits.tell(id);
  return settled;
}
