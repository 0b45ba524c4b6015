import { setTimeout as delay } from "node:timers/promises";
import type { SessionRow } from "../../portable/model/index.ts";
import { toWaypointError } from "../../shared/errors/index.ts";
import type { OperationOutput } from "../../shared/protocol/index.ts";
import { createCheckpoint, noteStartAgain, noteStartState } from "../checkpoint/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Automatic, CommandEnd, Engine } from "../ports/index.ts";
import { autoPolicyOf, describeAutomatic } from "../session/index.ts";
import { mayChangeShell } from "./changes-shell.ts";
import { areFilesSettled } from "./files-settled.ts";
import { isWorthCapturing } from "./is-worth-capturing.ts";
import { SessionState } from "./session-state.ts";
import { isAskedFor, joinTriggers, type Trigger } from "./trigger.ts";
import { waitForIdle } from "./wait-for-idle.ts";

/** How often to look for files that have come to rest: nobody tells of them. */
const LOOK_INTERVAL_MS = 1_000;

const NOTHING_SAID = { intent: null, mayHaveChangedShell: false } as const;

/**
 * Captures sessions by themselves, as the policy of each says.
 *
 * A trigger only notes that something has happened; the checkpoint is taken in the background. At
 * most one is under way per session, and what happens meanwhile joins into one more.
 */
export class AutomaticCheckpoints implements Automatic {
  readonly #engine: Engine;
  readonly #states = new Map<string, SessionState>();
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
    engine.journal.listen(({ session, instance, command }, { inLiveShell }) =>
      this.commandEnded({ session, instance, liveShellLine: inLiveShell ? command : null }),
    );
  }

  /**
   * Follows a session from now on; what it is now counts as captured.
   *
   * Never throws.
   */
  begin(live: LiveInstance): void {
    try {
      this.#follow(live);
    } catch (error) {
      // Where none was noted, all counts as changed.
      this.#engine.logger.error("follow a session", error, { sessionId: live.sessionId });
    }
  }

  started(live: LiveInstance): void {
    try {
      noteStartAgain(live, this.#engine);
    } catch (error) {
      this.#engine.logger.error("note a session's start", error, { sessionId: live.sessionId });
    }
  }

  /** Notes that a command has ended: in exec, in run, or typed at a terminal. */
  commandEnded({ session, instance, liveShellLine }: CommandEnd): void {
    if (this.#engine.live.get(session)?.instanceId !== instance) return;
    const mayHaveChangedShell = liveShellLine !== null && mayChangeShell(liveShellLine);
    this.#trigger(session, { cause: "command", intent: null, mayHaveChangedShell });
  }

  /** Notes that a task has ended. */
  taskEnded(sessionId: string, task: string): void {
    this.#trigger(sessionId, { cause: "task", intent: task, mayHaveChangedShell: false });
  }

  /** Returns what is known of a session's automatic checkpoints. */
  describe(row: SessionRow): OperationOutput<"auto"> {
    const state = this.#states.get(row.id);
    const heldBackMs = state?.heldBackMs ?? 0;
    return {
      session: row.id,
      ...describeAutomatic(row, this.#engine.settings),
      retryAt: heldBackMs > 0 ? new Date(Date.now() + heldBackMs).toISOString() : null,
      isScheduled: state !== undefined && state.serving !== null,
    };
  }

  /** Takes none any more; resolves when what is under way has ended. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    await Promise.all([...this.#states.values()].map(({ serving }) => serving));
  }

  #follow(live: LiveInstance): void {
    const row = this.#engine.catalog.session(live.sessionId);
    if (row === undefined) return;
    const policy = autoPolicyOf(row, this.#engine.settings);
    const isPaused = row.autoPausedAt !== null;
    const state = this.#states.get(row.id);
    state?.choose(policy, isPaused);
    if (policy.text === "manual") this.#states.delete(row.id);
    else if (state === undefined) this.#states.set(row.id, new SessionState(policy, isPaused));
    this.#keepLooking();
    if (policy.text !== "manual") noteStartState(live, this.#engine);
  }

  #trigger(sessionId: string, trigger: Trigger): void {
    const state = this.#states.get(sessionId);
    if (state === undefined || state.isPaused || this.#closing.signal.aborted) return;
    if (!isAskedFor(trigger, state.policy)) return;
    state.waiting = joinTriggers(state.waiting, trigger);
    state.serving ??= this.#serve(sessionId, state)
      .catch((error: unknown) => {
        this.#engine.logger.error("automatic checkpoint", error, { sessionId });
      })
      .finally(() => {
        state.serving = null;
      });
  }

  async #serve(sessionId: string, state: SessionState): Promise<void> {
    while (state.waiting !== null) {
      if (!(await this.#waitForTurn(sessionId, state))) return;
      const trigger = state.waiting;
      state.waiting = null;
      const { leases } = this.#engine;
      await leases.run(sessionId, () => this.#capture(sessionId, state, trigger));
    }
  }

  /** Lets those go first who are at work; false when there is nothing to do any more. */
  async #waitForTurn(sessionId: string, state: SessionState): Promise<boolean> {
    const { signal } = this.#closing;
    try {
      const heldBack = delay(state.heldBackMs, undefined, { signal, ref: false });
      await Promise.race([heldBack, state.chosenAnew]);
      await waitForIdle(sessionId, signal, this.#engine);
    } catch {
      state.waiting = null;
    }
    return !signal.aborted && state.waiting !== null;
  }

  /** **Requires** the session's lease. Whatever fails is noted, and nothing else. */
  async #capture(sessionId: string, state: SessionState, trigger: Trigger): Promise<void> {
    const { catalog, live, logger } = this.#engine;
    const row = catalog.session(sessionId);
    const instance = live.get(sessionId);
    if (row === undefined || instance === undefined || this.#closing.signal.aborted) return;
    if (state.isPaused || !isAskedFor(trigger, state.policy)) return;
    try {
      if (!(await isWorthCapturing(trigger, state.policy, instance, this.#engine))) {
        return state.noteDone();
      }
      const { cause: autoCause, intent } = trigger;
      const options = { trigger: "auto", autoCause, intent, name: null } as const;
      const more = { filesOnly: false, movesHead: true };
      await createCheckpoint(row, { ...options, ...more }, this.#engine);
      state.noteTaken();
      if (row.autoFailure !== null) this.#noteFailure(sessionId, null);
    } catch (error) {
      // A session that has ended meanwhile has nothing to be captured.
      if (live.get(sessionId) !== instance) return;
      const { message } = toWaypointError(error);
      state.noteFailed();
      logger.warn("no automatic checkpoint", { session: row.name, cause: trigger.cause, message });
      this.#noteFailure(sessionId, message);
    }
  }

  #noteFailure(sessionId: string, message: string | null): void {
    const at = message === null ? null : new Date().toISOString();
    try {
      const change = { autoFailure: message, autoFailedAt: at };
      this.#engine.catalog.updateSession(sessionId, change);
    } catch (error) {
      this.#engine.logger.error("note an automatic checkpoint", error, { sessionId });
    }
  }

  /** Looks again and again as long as a policy needs it. */
  #keepLooking(): void {
    const isNeeded = [...this.#states.values()].some(({ needsLooks }) => needsLooks);
    if (!isNeeded || this.#closing.signal.aborted) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    this.#timer ??= setInterval(() => this.#look(), LOOK_INTERVAL_MS).unref();
  }

  #look(): void {
    for (const [sessionId, state] of this.#states) {
      const live = this.#engine.live.get(sessionId);
      if (live === undefined || !state.needsLooks) continue;
      if (state.policy.edits && this.#isAtRest(live, state)) {
        this.#trigger(sessionId, { cause: "edit", ...NOTHING_SAID });
      }
      if (performance.now() >= state.dueAtMs) {
        this.#trigger(sessionId, { cause: "every", ...NOTHING_SAID });
      }
    }
    this.#forgetEnded();
  }

  #isAtRest(live: LiveInstance, state: SessionState): boolean {
    try {
      return areFilesSettled(live, state, this.#engine);
    } catch {
      return false; // Its files are being removed just now.
    }
  }

  #forgetEnded(): void {
    for (const [sessionId, { serving }] of this.#states) {
      const isRunning = this.#engine.live.get(sessionId) !== undefined;
      if (!isRunning && serving === null) this.#states.delete(sessionId);
    }
    this.#keepLooking();
  }
}
