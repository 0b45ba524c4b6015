import type { AutoPolicy } from "../../shared/protocol/index.ts";
import type { Trigger } from "./trigger.ts";

/** Time until the first try after a failure; each further failure doubles it. */
const RETRY_MS_FIRST = 10_000;
const RETRY_MS_MAX = 10 * 60_000;

/** What the daemon remembers of one session's automatic checkpoints. */
export class SessionState {
  policy: AutoPolicy;
  isPaused: boolean;
  /** What the next checkpoint is for; further triggers join it. */
  waiting: Trigger | null = null;
  /** The work on what waits, while there is some. */
  serving: Promise<void> | null = null;
  /** When the clock asks next, of `performance.now()`. */
  dueAtMs: number;
  /** Since when files have changed without coming to rest. */
  writtenSinceMs: number | null = null;
  #failures = 0;
  #retryAtMs = 0;
  #choice = Promise.withResolvers<void>();

  constructor(policy: AutoPolicy, isPaused: boolean) {
    this.policy = policy;
    this.isPaused = isPaused;
    this.dueAtMs = this.#nextDue();
  }

  /** Takes another policy; after it was chosen anew, nothing is held back. */
  choose(policy: AutoPolicy, isPaused: boolean): void {
    this.policy = policy;
    this.isPaused = isPaused;
    this.dueAtMs = this.#nextDue();
    this.#failures = 0;
    this.#retryAtMs = 0;
    this.#choice.resolve();
    this.#choice = Promise.withResolvers();
  }

  /** Resolves when the policy is chosen anew: then nothing is held back any more. */
  get chosenAnew(): Promise<void> {
    return this.#choice.promise;
  }

  /** Whether somebody has to look at it again and again. */
  get needsLooks(): boolean {
    return !this.isPaused && (this.policy.edits || this.policy.everyMs !== null);
  }

  /** Time until the next one may be tried. */
  get heldBackMs(): number {
    return Math.max(0, this.#retryAtMs - performance.now());
  }

  noteTaken(): void {
    this.#failures = 0;
    this.#retryAtMs = 0;
    this.noteDone();
  }

  /** Notes that what is there is captured, or need not be. */
  noteDone(): void {
    this.writtenSinceMs = null;
    this.dueAtMs = this.#nextDue();
  }

  noteFailed(): void {
    const heldBackMs = Math.min(RETRY_MS_MAX, RETRY_MS_FIRST * 2 ** this.#failures);
    this.#failures += 1;
    this.#retryAtMs = performance.now() + heldBackMs;
    this.noteDone();
  }

  #nextDue(): number {
    return performance.now() + (this.policy.everyMs ?? Number.POSITIVE_INFINITY);
  }
}
