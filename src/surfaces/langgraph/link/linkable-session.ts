/** A story of a checkpoint, as far as a step of a graph tells it. */
export interface LinkableStory {
  changes: { summary: string };
}

/**
 * What {@link linkSession} needs of a session: the SDK's `Session` has it. Whatever keeps a machine's
 * history in the same way can be linked, too.
 */
export interface LinkableSession {
  readonly id: string;
  readonly name: string;
  /** What its agent has beside the machine; the thread that the session belongs to is kept there. */
  readonly state: LinkableState;
  /**
   * Returns where it stands, and whether it runs. `pid` stands for its processes: it is another one once
   * they were restored or started again. Without it nobody notices that under a run.
   */
  info(): Promise<{
    head: string | null;
    state: "running" | "stopped" | "ended";
    pid?: number | null;
  }>;
  /** Captures it; with `ifChanged` only where something has changed since its head, which is the answer then. */
  checkpoint(options: {
    intent?: string;
    ifChanged?: boolean;
    durable?: boolean;
  }): Promise<{ readonly id: string }>;
  /** Puts it back; what is there now is captured first, unless `withoutUndo`. */
  restore(
    checkpoint: string,
    options: { only?: "machine"; withoutUndo?: boolean },
  ): Promise<unknown>;
  /** Starts a session of the same kind from one of its checkpoints. */
  fork(checkpoint: string): Promise<readonly LinkableSession[]>;
  show(checkpoint: string): Promise<LinkableStory>;
}

/** Values of JSON by keys, changed under a version. */
export interface LinkableState {
  keys(): Promise<{ version: string | null }>;
  get(key: string): Promise<unknown>;
  update(update: {
    set?: Record<string, { value: unknown }>;
    remove?: string[];
    ifVersion?: string | null;
  }): Promise<unknown>;
}
