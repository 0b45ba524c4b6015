import type { SessionRow } from "../../portable/model/index.ts";
import type { OperationOutput } from "../../shared/protocol/index.ts";
import type { LiveInstance } from "../live/index.ts";

/** The end of a command, whoever ran it. */
export interface CommandEnd {
  session: string;
  instance: string;
  /** What was run in the session's own shell; `null` where it is not known, or ran elsewhere. */
  liveShellLine: string | null;
}

/** Checkpoints that nobody has to ask for; src/engine/automatic takes them. */
export interface Automatic {
  /** Follows a session from now on; what it is now counts as captured. Never throws. */
  begin(live: LiveInstance): void;
  /** A new session's shell has come to its prompt, and nobody has used it: its start is no change. */
  started(live: LiveInstance): void;
  /** Notes that a command has ended: in exec, in run, or typed at a terminal. */
  commandEnded(end: CommandEnd): void;
  /** Notes that a task has ended. */
  taskEnded(sessionId: string, task: string): void;
  /** Returns what is known of a session's automatic checkpoints. */
  describe(row: SessionRow): OperationOutput<"auto">;
  /** Takes none any more; resolves when what is under way has ended. Idempotent. */
  close(): Promise<void>;
}
