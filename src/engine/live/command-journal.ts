import type { Logger } from "../../base/index.ts";
import { TailOutput } from "../../base/index.ts";
import type { CaptureRow, CommandLog, CommandRow } from "../../portable/catalog/index.ts";
import type { LiveInstance } from "./live-sessions.ts";

/** The end of a command's output that is kept. */
const OUTPUT_BYTES_MAX = 64 * 1024;
const COMMAND_CHARACTERS_MAX = 16 * 1024;

/** What was run in an instance until an instant. */
export type CommandsSoFar = Omit<CaptureRow, "checkpoint">;

/** Hears of the end of a command. */
export type CommandListener = (row: CommandRow, where: { inLiveShell: boolean }) => void;

/**
 * What is run in sessions, noted for the stories of the checkpoints that follow.
 *
 * It is no part of running anything: whatever goes wrong here is logged, and nothing else.
 */
export class CommandJournal {
  readonly #log: CommandLog;
  readonly #logger: Logger;
  readonly #running = new Map<string, Set<JournalEntry>>();
  readonly #ended: CommandRow[] = [];
  readonly #idle = new Map<string, PromiseWithResolvers<void>>();
  #onEnd: CommandListener = () => {};

  constructor(log: CommandLog, logger: Logger) {
    this.#log = log;
    this.#logger = logger;
  }

  /** Notes that a command has begun, in the session's own shell or in one that ends with it. */
  begin(
    { sessionId, instanceId }: LiveInstance,
    command: string,
    { inLiveShell }: { inLiveShell: boolean },
  ): JournalEntry {
    const started = this.#running.get(instanceId) ?? new Set();
    this.#running.set(instanceId, started);
    const facts = { session: sessionId, instance: instanceId, command };
    const entry = new JournalEntry(facts, (row) => {
      started.delete(entry);
      if (started.size === 0) this.#noteIdle(instanceId);
      this.#noteSoon(row);
      this.#onEnd(row, { inLiveShell });
    });
    started.add(entry);
    return entry;
  }

  /** Tells `listener` of each command that ends; it must not throw. One listener. */
  listen(listener: CommandListener): void {
    this.#onEnd = listener;
  }

  /** Resolves when no command runs in an instance; at once when none does. */
  idle(instanceId: string): Promise<void> {
    if (!this.#running.has(instanceId)) return Promise.resolve();
    const waiting = this.#idle.get(instanceId) ?? Promise.withResolvers<void>();
    this.#idle.set(instanceId, waiting);
    return waiting.promise;
  }

  /** Tells whether a command runs in an instance. */
  isRunning(instanceId: string): boolean {
    return this.#running.has(instanceId);
  }

  /** Returns the command of an instance that was begun last, running or ended. */
  lastOf(instance: string): Pick<CommandRow, "command"> | undefined {
    const running = [...(this.#running.get(instance) ?? [])].at(-1);
    if (running !== undefined) return running.describe();
    this.#noteEnded();
    const find = () => this.#log.between(instance, 0, this.#log.last()).at(-1);
    return this.#try("find the last command", find) ?? undefined;
  }

  /** Returns what was run in an instance until now, or `null` where it cannot be told. */
  soFar(instance: string): CommandsSoFar | null {
    this.#noteEnded();
    return this.#try("list commands", () => {
      const running = [...(this.#running.get(instance) ?? [])].map((entry) => entry.describe());
      return { instance, lastCommand: this.#log.last(), running };
    });
  }

  /** Notes what had been run when a checkpoint was taken. */
  keep(checkpoint: string, soFar: CommandsSoFar | null): void {
    if (soFar === null) return;
    this.#try("note the commands of a checkpoint", () => {
      this.#log.putCapture({ checkpoint, ...soFar });
    });
  }

  #noteIdle(instanceId: string): void {
    this.#running.delete(instanceId);
    this.#idle.get(instanceId)?.resolve();
    this.#idle.delete(instanceId);
  }

  /** A command's answer does not wait for its note. */
  #noteSoon(row: CommandRow): void {
    this.#ended.push(row);
    if (this.#ended.length === 1) setImmediate(() => this.#noteEnded());
  }

  #noteEnded(): void {
    for (const row of this.#ended.splice(0)) {
      this.#try("note a command", () => this.#log.add(row));
    }
  }

  #try<T>(what: string, step: () => T): T | null {
    try {
      return step();
    } catch (error) {
      this.#logger.error(what, error, {});
      return null;
    }
  }
}

/** One command that runs. */
export class JournalEntry {
  readonly #facts: Pick<CommandRow, "session" | "instance" | "command" | "startedAt">;
  readonly #output = new TailOutput(OUTPUT_BYTES_MAX);
  readonly #startedAtMs = performance.now();
  readonly #onEnd: (row: CommandRow) => void;
  #isOver = false;

  constructor(
    facts: Pick<CommandRow, "session" | "instance" | "command">,
    onEnd: (row: CommandRow) => void,
  ) {
    const command = facts.command.slice(0, COMMAND_CHARACTERS_MAX);
    this.#facts = { ...facts, command, startedAt: new Date().toISOString() };
    this.#onEnd = onEnd;
  }

  /** Takes what the command printed. */
  add(bytes: Uint8Array): void {
    this.#output.add(bytes);
  }

  /** Notes the end, once; `null` where nobody learned how it ended. */
  end(exitCode: number | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const durationMs = Math.round(performance.now() - this.#startedAtMs);
    this.#onEnd({ ...this.describe(), durationMs, exitCode });
  }

  /** Returns what is known of it while it runs. */
  describe(): CommandRow {
    return {
      ...this.#facts,
      by: "exec",
      durationMs: null,
      exitCode: null,
      output: this.#output.text(),
      outputBytes: this.#output.bytes,
    };
  }
}
