import type { Approval } from "../../portable/approvals/index.ts";
import type { Engine, StreamClient } from "../ports/index.ts";
import { describeApproval } from "./describe-approval.ts";

/** Steps that one look takes in. */
const WAITING_MAX = 1000;
/** What a timer may be set to. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Tells a client the steps that wait, of one session or of all, until it leaves: each when it comes,
 * when its command goes or comes back, and when it waits no longer. What changes between two looks is
 * told once, so that a slow client takes no memory.
 *
 * @throws CANCELLED  the client has left. | DAEMON_UNREACHABLE  the daemon ends.
 */
export async function watchApprovals(
  session: string | null,
  client: Pick<StreamClient, "send" | "cancelled">,
  engine: Pick<Engine, "approvals" | "approvalWaits">,
): Promise<never> {
  const { approvals, approvalWaits } = engine;
  const left = rejectedBy(client.cancelled);
  const told = new Map<string, boolean>();
  const tell = async (approval: Approval) => {
    const line = JSON.stringify(describeApproval(approval, engine));
    await client.send("stdout", Buffer.from(`${line}\n`));
  };
  for (;;) {
    // Before the look, so that no change falls between the two.
    const changed = approvalWaits.changed();
    const waiting = waitingOf(session, engine);
    for (const approval of waiting) {
      const isWaitedFor = approvalWaits.has(approval.id);
      if (told.get(approval.id) === isWaitedFor) continue;
      told.set(approval.id, isWaitedFor);
      await tell(approval);
    }
    const waits = new Set(waiting.map(({ id }) => id));
    for (const id of [...told.keys()].filter((each) => !waits.has(each))) {
      told.delete(id);
      const settled = approvals.get(id);
      if (settled !== undefined) await tell(settled);
    }
    const firstEndMs = Math.min(...waiting.map(({ expiresAt }) => Date.parse(expiresAt)));
    const timer = Promise.withResolvers<void>();
    const timeoutMs = Math.min(TIMER_MS_MAX, Math.max(0, firstEndMs - Date.now()));
    const timing = setTimeout(timer.resolve, timeoutMs);
    try {
      await Promise.race([changed, timer.promise, left]);
    } finally {
      clearTimeout(timing);
    }
  }
}

function waitingOf(
  session: string | null,
  { approvals }: Pick<Engine, "approvals">,
): readonly Approval[] {
  approvals.expire(new Date().toISOString());
  const listed = approvals.list({ session, countMax: WAITING_MAX });
  return listed.filter(({ state }) => state === "waiting");
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  if (signal.aborted) reject(signal.reason);
  else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  return promise;
}
