import { WaypointError } from "../../shared/errors/index.ts";

/** Who waits for an approval now: one for each. */
export class ApprovalWaits {
  readonly #waits = new Map<string, PromiseWithResolvers<void>>();

  has(id: string): boolean {
    return this.#waits.has(id);
  }

  /**
   * Waits until somebody has answered, for a time at most.
   *
   * @throws DAEMON_UNREACHABLE  the daemon ends; what it has noted stays. Whatever aborts `signal`.
   */
  async wait(id: string, { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal }) {
    const answered = Promise.withResolvers<void>();
    this.#waits.set(id, answered);
    const timer = setTimeout(answered.resolve, Math.max(0, timeoutMs));
    const onAbort = () => answered.reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      await answered.promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      this.#waits.delete(id);
    }
  }

  /** Says that somebody has answered. */
  tell(id: string): void {
    this.#waits.get(id)?.resolve();
  }

  close(): void {
    for (const [id, { reject }] of this.#waits) {
      reject(
        new WaypointError(
          "DAEMON_UNREACHABLE",
          `The daemon ends while step ${id} waits for approval.`,
          {
            hint: "Nothing ran. The same command takes the same approval up again.",
            detail: { approval: id },
          },
        ),
      );
    }
  }
}
