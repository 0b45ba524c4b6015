import { hasCode } from "../../shared/errors/index.ts";
import type { ApprovalInfo } from "../../shared/protocol/index.ts";
import { callOperation } from "./call-operation.ts";

/** A daemon that was lost may come back. */
const TRIES_MAX = 3;

/** What a program says of a step; nothing leaves it to others, until its time is over. */
export type ApprovalDecision = "approve" | "deny" | undefined;

/**
 * Asks whoever the program asks, about a step that waits. `signal` is aborted when it waits no longer,
 * so that the question can be taken back.
 */
export type OnApproval = (
  request: ApprovalInfo,
  about: { signal: AbortSignal },
) => Promise<ApprovalDecision>;

/** Asks a program about the step that its command waits for: once for each, whatever daemon tells it. */
export class ProgramAsker implements Disposable {
  readonly #stateDir: string;
  readonly #onApproval: OnApproval | undefined;
  readonly #asked = new Map<string, AbortController>();

  constructor(stateDir: string, onApproval: OnApproval | undefined) {
    this.#stateDir = stateDir;
    this.#onApproval = onApproval;
  }

  /** Takes what the daemon tells of a step. */
  take(approval: ApprovalInfo): void {
    if (approval.state !== "waiting") this.#asked.get(approval.id)?.abort();
    else if (!this.#asked.has(approval.id)) void this.#ask(approval);
  }

  [Symbol.dispose](): void {
    for (const each of this.#asked.values()) each.abort();
  }

  /** Where it cannot be asked, the step is denied, and whoever runs the command reads why. */
  async #ask(request: ApprovalInfo): Promise<void> {
    const over = new AbortController();
    this.#asked.set(request.id, over);
    const answer = async () => await this.#onApproval?.(request, { signal: over.signal });
    const failed = (error: unknown) => ({ why: `onApproval: ${String(error).slice(0, 1000)}` });
    const decision = await answer().catch(failed);
    if (decision === undefined || over.signal.aborted) return;
    const isApproved = decision === "approve";
    const told = typeof decision === "object" ? decision : isAnswer(decision);
    const input = { approval: request.id, ...told };
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      try {
        await callOperation(this.#stateDir, isApproved ? "approve" : "deny", input);
        return;
      } catch (error) {
        // Somebody was faster, or nobody can be told: the command itself says what became of it.
        if (!hasCode(error, "DAEMON_UNREACHABLE")) return;
      }
    }
  }
}

function isAnswer(decision: unknown): { why?: string } {
  if (decision === "approve" || decision === "deny") return {};
  return { why: `onApproval said ${String(decision).slice(0, 100)}, which is no answer` };
}
