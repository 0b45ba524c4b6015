import { WaypointError } from "../../shared/errors/index.ts";

/** Who waits for an approval now, one for each, and who looks at all that wait. */
export class ApprovalWaits {
  readonly #waits = new Map<string, PromiseWithResolvers<void>>();
  #change = newChange();
  #isClosed = false;

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
    this.#noteChange();
    const timer = setTimeout(answered.resolve, Math.max(0, timeoutMs));
    const onAbort = () => answered.reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    if (this.#isClosed) answered.reject(ending(`step ${id} waits for approval`, { approval: id }));
    try {
      await answered.promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      this.#waits.delete(id);
      this.#noteChange();
    }
  }

  /** Says that somebody has answered. */
  tell(id: string): void {
    this.#waits.get(id)?.resolve();
    this.#noteChange();
  }

  /** Resolves at the next change of what waits. @throws DAEMON_UNREACHABLE  the daemon ends. */
  changed(): Promise<void> {
    return this.#change.promise;
  }

  close(): void {
    this.#isClosed = true;
    for (const [id, { reject }] of this.#waits) {
      reject(ending(`step ${id} waits for approval`, { approval: id }));
    }
    this.#change.reject(ending("somebody looks at what waits", {}));
  }

  #noteChange(): void {
    if (this.#isClosed) return;
    const { resolve } = this.#change;
    this.#change = newChange();
    resolve();
  }
}

function newChange(): PromiseWithResolvers<void> {
  const change = Promise.withResolvers<void>();
  // Often nobody looks.
  change.promise.catch(() => {});
  return change;
}

function ending(what: string, detail: { approval?: string }): WaypointError {
  return new WaypointError("DAEMON_UNREACHABLE", `The daemon ends while ${what}.`, {
    hint: "Nothing ran. The same command takes the same approval up again.",
    detail,
  });
}
