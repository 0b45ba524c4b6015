import type { InitLink } from "../../linux/terminal/index.ts";

/** A session's running instance and the line to its PID 1. */
export interface LiveInstance {
  sessionId: string;
  instanceId: string;
  pid: number;
  startTicks: number;
  link: InitLink;
  /** The terminal that `attach` and `exec` use. */
  terminalId: number;
}

/** Size of one attached terminal. */
export interface TerminalSize {
  columns: number;
  rows: number;
}

/**
 * The running sessions that this daemon is connected to.
 *
 * An attachment outlives instances: it waits here for the next one.
 */
export class LiveSessions {
  readonly #instances = new Map<string, LiveInstance>();
  readonly #changes = new Map<string, PromiseWithResolvers<void>>();
  readonly #expected = new Map<string, Promise<unknown>>();
  readonly #sizes = new Map<string, Map<object, TerminalSize>>();

  get(sessionId: string): LiveInstance | undefined {
    return this.#instances.get(sessionId);
  }

  all(): LiveInstance[] {
    return [...this.#instances.values()];
  }

  /** Puts an instance in place of the one before, if there was one. */
  set(instance: LiveInstance): void {
    this.#instances.set(instance.sessionId, instance);
    this.#announce(instance.sessionId);
  }

  /** Forgets a session's instance, unless another has taken its place. */
  delete(sessionId: string, instanceId: string): void {
    if (this.#instances.get(sessionId)?.instanceId !== instanceId) return;
    this.#instances.delete(sessionId);
    this.#announce(sessionId);
  }

  /** Lets those who need a session wait for its first process, which is being called. */
  expect(sessionId: string, calling: Promise<unknown>): void {
    this.#expected.set(sessionId, calling);
    void calling.finally(() => this.#expected.delete(sessionId));
  }

  /** Resolves when a session that is being called has answered, or has not in time. */
  async arrived(sessionId: string): Promise<void> {
    await this.#expected.get(sessionId);
  }

  /** Wakes the attachments of a session that is gone. */
  announceRemoval(sessionId: string): void {
    this.#announce(sessionId);
  }

  /** Resolves at the next change of a session's instance. */
  changed(sessionId: string): Promise<void> {
    const waiting = this.#changes.get(sessionId) ?? Promise.withResolvers<void>();
    this.#changes.set(sessionId, waiting);
    return waiting.promise;
  }

  /**
   * Notes the size of an attached terminal and returns the size that all attached can show.
   *
   * @param key  the attachment; `size` null when it has left.
   */
  commonSize(sessionId: string, key: object, size: TerminalSize | null): TerminalSize | null {
    const sizes = this.#sizes.get(sessionId) ?? new Map<object, TerminalSize>();
    this.#sizes.set(sessionId, sizes);
    if (size === null) sizes.delete(key);
    else sizes.set(key, size);
    if (sizes.size === 0) {
      this.#sizes.delete(sessionId);
      return null;
    }
    const all = [...sizes.values()];
    return {
      columns: Math.min(...all.map(({ columns }) => columns)),
      rows: Math.min(...all.map(({ rows }) => rows)),
    };
  }

  /** Returns how many terminals are attached to a session. */
  attachedCount(sessionId: string): number {
    return this.#sizes.get(sessionId)?.size ?? 0;
  }

  #announce(sessionId: string): void {
    this.#changes.get(sessionId)?.resolve();
    this.#changes.delete(sessionId);
  }
}
