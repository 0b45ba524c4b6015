import type { Approval } from "../../portable/approvals/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Caller } from "../../shared/protocol/index.ts";
import type { Engine, StreamClient } from "../ports/index.ts";
import { describeApproval } from "./describe-approval.ts";

/**
 * Waits until a person has approved a step, as long as it may.
 *
 * @throws APPROVAL_DENIED | APPROVAL_EXPIRED, and whatever aborts `signal`.
 */
export async function awaitAnswer(
  { id, rule, expiresAt, checkpoint }: Approval,
  signal: AbortSignal,
  client: StreamClient,
  engine: Engine,
): Promise<void> {
  const look = () => {
    engine.approvals.expire(new Date().toISOString());
    return engine.approvals.get(id) as Approval;
  };
  let isTold = false;
  for (;;) {
    const { state } = look();
    if (state !== "waiting") break;
    const timeoutMs = Date.parse(expiresAt) - Date.now();
    const waiting = engine.approvalWaits.wait(id, { timeoutMs, signal });
    if (!isTold) {
      client.notice(
        `held: ${rule} waits for a person until ${expiresAt}: \`waypoint approve ${id}\` or ` +
          `\`waypoint deny ${id}\`; checkpoint ${checkpoint} was taken before`,
        describeApproval(look(), engine),
      );
    }
    isTold = true;
    await waiting;
  }
  const answered = look();
  if (answered.state === "denied") throw denied(answered, answered.why);
  if (answered.state === "expired") {
    throw new WaypointError("APPROVAL_EXPIRED", `Nobody approved ${rule} in time; nothing ran.`, {
      hint: "Ask a person, then give the command again; --approval-timeout gives them longer.",
      detail: { approval: id, rule, checkpoint },
    });
  }
}

/**
 * Notes a step as begun: from here on it counts as run.
 *
 * @throws APPROVAL_DENIED  it is another machine than the one asked for.
 * @throws APPROVAL_SETTLED  it was begun before, by whoever waited for it then.
 */
export function begin(approval: Approval, client: StreamClient, engine: Engine): void {
  const { approvals, catalog } = engine;
  const { id, instance, session, rule } = approval;
  const settled = { settledAt: new Date().toISOString(), answeredBy: null };
  if (catalog.session(session)?.instance !== instance) {
    const why = "the session was put back or started again meanwhile";
    if (approvals.move(id, "approved", { ...settled, state: "denied", why })) {
      throw denied(approval, why);
    }
  }
  if (!approvals.move(id, "approved", { ...settled, state: "used", why: null })) {
    throw alreadyBegun(approvals.get(id) ?? approval);
  }
  const begun = approvals.get(id) as Approval;
  client.notice(`approved: ${rule}${byWhom(begun.answeredBy)}`, describeApproval(begun, engine));
}

function alreadyBegun({ id, rule, checkpoint, exitCode }: Approval): WaypointError {
  const end =
    exitCode === null ? "what became of it is not known" : `it has ended with ${exitCode}`;
  return new WaypointError(
    "APPROVAL_SETTLED",
    `The step ${rule} was begun once already; ${end}. It was not run again.`,
    {
      hint: "Look what it did, before the command is given again: that asks a person again.",
      detail: { approval: id, rule, checkpoint, exitCode },
    },
  );
}

function denied({ id, rule, checkpoint, answeredBy }: Approval, why: string | null): WaypointError {
  const because = why === null ? "" : `: ${why}`;
  return new WaypointError(
    "APPROVAL_DENIED",
    `The step ${rule} was not approved${byWhom(answeredBy)}${because}; nothing ran.`,
    {
      hint: "Do without it, or ask a person and give the command again.",
      detail: { approval: id, rule, checkpoint, why, answeredBy },
    },
  );
}

/** The name that the kernel vouches for; what the client adds is told as its own words. */
function byWhom(caller: Caller | null): string {
  if (caller === null) return "";
  const { user, uid, sudoUser } = caller;
  const name = user ?? (uid === null ? "somebody" : `user ${uid}`);
  return ` by ${name}${sudoUser === null ? "" : ` (sudo: ${sudoUser})`}`;
}
