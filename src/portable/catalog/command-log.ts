/** A command that was run in a session. */
export interface CommandRow {
  session: string;
  instance: string;
  command: string;
  by: "exec" | "terminal";
  startedAt: string;
  /** `null` while it runs. */
  durationMs: number | null;
  exitCode: number | null;
  /** The end of what it printed. */
  output: string;
  outputBytes: number;
}

/** Which commands came before a checkpoint, in the order in which they ended. */
export interface CaptureRow {
  checkpoint: string;
  instance: string;
  /** The last one that had ended; 0 if none had. */
  lastCommand: number;
  /** Those that ran. */
  running: CommandRow[];
}

/**
 * The commands that were run, in the catalog.
 *
 * Nothing here waits for the disk: the last of it may be lost with the power, and no command waits
 * for being noted.
 */
export interface CommandLog {
  /** Notes a command that has ended. */
  add(row: CommandRow): void;

  /** Returns the number of the last command that has ended, 0 if none has. */
  last(): number;

  /** Returns the commands of an instance that ended after one and until another. */
  between(instance: string, after: number, until: number): CommandRow[];

  putCapture(row: CaptureRow): void;

  capture(checkpoint: string): CaptureRow | undefined;

  deleteCapture(checkpoint: string): void;

  /** Deletes the commands of instances that are gone and that no checkpoint was taken of. */
  deleteForgotten(): void;
}
