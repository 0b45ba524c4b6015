import { historyOf } from "../../portable/lineage/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { BackgroundVerifier, Engine } from "../ports/index.ts";
import { requireVerifyCommand } from "../session/index.ts";
import { verifyCheckpoint } from "./verify-checkpoint.ts";

/** Without an operation for so long, nobody is at work. */
const IDLE_MS = 2_000;
/** Somebody may always be at work: longest time for which operations put a verification off. */
const PUT_OFF_MS_MAX = 30_000;
/** So many automatic checkpoints of a session are looked at, its newest. */
const CHECKPOINTS_MAX = 20;
/** As that of `verify` unless it is told. */
const TIMEOUT_MS = 10 * 60_000;

/** One checkpoint, and the session whose command it is to be verified with. */
interface Pair {
  checkpoint: CheckpointRow;
  session: SessionRow;
}

/**
 * Verifies the automatic checkpoints of sessions that have a verify command: when no operation has
 * ended for a while, which is waited for half a minute at most, one at a time, newest first, each once.
 */
export class AutomaticVerifier implements BackgroundVerifier {
  readonly #engine: Engine;
  readonly #idleMs: number;
  readonly #closing = new AbortController();
  /** What could not be run is not tried again by this daemon. */
  readonly #failed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  /** Since when it is waited that nobody is at work; `null`: it is not. */
  #waitsSinceMs: number | null = null;
  #running: Promise<void> | null = null;
  /** What is under way, to be given up. */
  #current: { sessionId: string; abort: AbortController } | undefined;

  constructor(engine: Engine, idleMs = IDLE_MS) {
    this.#engine = engine;
    this.#idleMs = idleMs;
  }

  look(): void {
    if (this.#closing.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#waitsSinceMs ??= performance.now();
    const leftMs = this.#waitsSinceMs + PUT_OFF_MS_MAX - performance.now();
    this.#timer = setTimeout(() => this.#begin(), Math.min(this.#idleMs, leftMs)).unref();
  }

  abandon(sessionId: string): void {
    if (this.#current?.sessionId === sessionId) this.#current.abort.abort();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  #begin(): void {
    this.#waitsSinceMs = null;
    this.#running ??= this.#verifyOne()
      .catch((error: unknown) => this.#engine.logger.error("verify in the background", error))
      .finally(() => {
        this.#running = null;
      });
  }

  async #verifyOne(): Promise<void> {
    const next = this.#chooseNext();
    if (next === undefined || this.#closing.signal.aborted) return;
    const { checkpoint, session } = next;
    const abort = new AbortController();
    const signal = AbortSignal.any([this.#closing.signal, abort.signal]);
    this.#current = { sessionId: session.id, abort };
    const request = {
      command: requireVerifyCommand(session),
      timeoutMs: TIMEOUT_MS,
      signal,
      isBackground: true,
    } as const;
    try {
      await verifyCheckpoint(checkpoint, { ...request, by: "verify" }, this.#engine);
    } catch (error) {
      // What was given up for another command may be asked for once more.
      if (abort.signal.aborted) return this.look();
      this.#failed.add(keyOf(next));
      const { id } = checkpoint;
      const reason = String(error);
      this.#engine.logger.warn("a checkpoint was not verified", { checkpoint: id, reason });
    } finally {
      this.#current = undefined;
    }
    this.look();
  }

  /** The newest of all sessions that its session's command was never run against. */
  #chooseNext(): Pair | undefined {
    const { catalog } = this.#engine;
    const asking = catalog
      .sessions()
      .filter(
        ({ verifyWords, verifyAutomatic }) => verifyWords !== null && verifyAutomatic === null,
      );
    const newest = asking.flatMap((session) => this.#newestOf(session) ?? []);
    return newest.toSorted((one, other) =>
      one.checkpoint.createdAt < other.checkpoint.createdAt ? 1 : -1,
    )[0];
  }

  #newestOf(session: SessionRow): Pair | undefined {
    const { catalog } = this.#engine;
    return historyOf(session, catalog)
      .filter(({ trigger }) => trigger === "auto")
      .slice(-CHECKPOINTS_MAX)
      .map((checkpoint) => ({ checkpoint, session }))
      .findLast((pair) => {
        const isKnown = catalog.verifications
          .of(pair.checkpoint.id)
          .some(({ command }) => command === session.verifyCommand);
        return !isKnown && !this.#failed.has(keyOf(pair));
      });
  }
}

function keyOf({ checkpoint, session }: Pair): string {
  return `${checkpoint.id} ${session.verifyCommand}`;
}
