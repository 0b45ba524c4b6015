import { describeApproval, settleApproval, watchApprovals } from "../engine/approval/index.ts";
import type { Engine } from "../engine/ports/index.ts";
import { type Approval, policyOf } from "../portable/approvals/index.ts";
import { resolveSession } from "../portable/lineage/index.ts";
import { WaypointError } from "../shared/errors/index.ts";
import type { ApprovalInfo, Caller, OperationParsedInput } from "../shared/protocol/index.ts";
import type { HandlersOf } from "./operation-handler.ts";

/** What one answer lists. */
const APPROVALS_MAX = 1000;

/** What the operations on approvals do. */
export const APPROVAL_HANDLERS: HandlersOf<
  "approvals" | "approvals.watch" | "approve" | "deny" | "approval"
> = {
  approvals: async ({ session }, engine) => {
    const id = session === undefined ? null : resolveSession(session, engine.catalog).id;
    engine.approvals.expire(new Date().toISOString());
    const found = engine.approvals.list({ session: id, countMax: APPROVALS_MAX });
    return { approvals: found.map((approval) => describeApproval(approval, engine)) };
  },

  "approvals.watch": async ({ session }, engine, client) => {
    const id = session === undefined ? null : resolveSession(session, engine.catalog).id;
    return await watchApprovals(id, client, engine);
  },

  approve: async (input, engine, { caller }) => settle(input, "approved", caller, engine),
  deny: async (input, engine, { caller }) => settle(input, "denied", caller, engine),

  approval: async ({ session, policy }, engine) => {
    const { id } = resolveSession(session, engine.catalog);
    if (policy !== undefined) {
      policyOf(policy);
      engine.catalog.updateSession(id, { approval: policy });
    }
    const text = resolveSession(id, engine.catalog).approval ?? "off";
    const chosen = policyOf(text);
    return {
      session: id,
      policy: text,
      commands: chosen?.commands.map((words) => [...words]) ?? [],
      destinations: [...(chosen?.destinations ?? [])],
      methods: [...(chosen?.methods ?? [])],
      timeoutMs: chosen?.timeoutMs ?? null,
    };
  },
};

function settle(
  { approval, why }: OperationParsedInput<"approve">,
  state: "approved" | "denied",
  by: Caller,
  engine: Engine,
): ApprovalInfo {
  const found = resolveApproval(approval, engine);
  return describeApproval(settleApproval(found, { state, why: why ?? null, by }, engine), engine);
}

/** @throws APPROVAL_NOT_FOUND | REFERENCE_AMBIGUOUS | SESSION_NOT_FOUND */
function resolveApproval(reference: string | undefined, { approvals, catalog }: Engine): Approval {
  const named = reference === undefined ? undefined : approvals.get(reference);
  if (named !== undefined) return named;
  const session = reference === undefined ? null : resolveSession(reference, catalog).id;
  approvals.expire(new Date().toISOString());
  const waiting = approvals
    .list({ session, countMax: APPROVALS_MAX })
    .filter(({ state }) => state === "waiting");
  const [only, another] = waiting;
  if (only === undefined) {
    throw new WaypointError("APPROVAL_NOT_FOUND", "No step waits for approval.", {
      hint: "`waypoint approvals` lists what became of earlier ones.",
    });
  }
  if (another === undefined) return only;
  throw new WaypointError("REFERENCE_AMBIGUOUS", `${waiting.length} steps wait for approval.`, {
    hint: `Name one by its id: ${waiting
      .map(({ id }) => id)
      .slice(0, 5)
      .join(", ")}.`,
  });
}
