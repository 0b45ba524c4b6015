import { hasCode, toWaypointError, type WaypointError } from "../../../shared/errors/index.ts";
import type { OperationOutput } from "../../../shared/protocol/index.ts";

/** What is known of what a restore would change. */
export type Preview =
  | { kind: "loading" }
  | { kind: "ready"; changes: OperationOutput<"diff"> }
  | { kind: "failed"; error: WaypointError };

/** Compares the session as it is now with a checkpoint. */
export type Compare = (checkpoint: string, signal: AbortSignal) => Promise<OperationOutput<"diff">>;

/** How long the selection rests before its preview is asked for: who moves on asks for nothing. */
const REST_MS = 120;

/**
 * The previews of checkpoints: one is loaded at a time, that of the selection, and kept. Moving on
 * gives up what is under way.
 */
export class Previews implements Disposable {
  readonly #compare: Compare;
  readonly #onChange: () => void;
  readonly #kept = new Map<string, Preview>();
  #loading: { checkpoint: string; controller: AbortController } | null = null;

  constructor(compare: Compare, onChange: () => void) {
    this.#compare = compare;
    this.#onChange = onChange;
  }

  /** What is known of a checkpoint now. */
  of(checkpoint: string): Preview {
    return this.#kept.get(checkpoint) ?? { kind: "loading" };
  }

  /** Says which checkpoint is looked at. `fresh` asks again, for the session has gone on. */
  look(checkpoint: string | null, { fresh = false }: { fresh?: boolean } = {}): void {
    if (this.#loading?.checkpoint === checkpoint && !fresh) return;
    this.#giveUp();
    if (checkpoint === null) return;
    if (fresh) this.#kept.delete(checkpoint);
    if (this.#kept.has(checkpoint)) return;
    const controller = new AbortController();
    this.#loading = { checkpoint, controller };
    const start = () => void this.#load(checkpoint, controller);
    const timer = setTimeout(start, fresh ? 0 : REST_MS);
    controller.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  }

  [Symbol.dispose](): void {
    this.#giveUp();
  }

  async #load(checkpoint: string, controller: AbortController): Promise<void> {
    const preview = await this.#compare(checkpoint, controller.signal).then(
      (changes): Preview => ({ kind: "ready", changes }),
      (error: unknown): Preview => ({ kind: "failed", error: toWaypointError(error) }),
    );
    if (controller.signal.aborted) return;
    this.#loading = null;
    const isLost = preview.kind === "failed" && hasCode(preview.error, "CANCELLED");
    if (!isLost) this.#kept.set(checkpoint, preview);
    this.#onChange();
  }

  #giveUp(): void {
    this.#loading?.controller.abort();
    this.#loading = null;
  }
}
