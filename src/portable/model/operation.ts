import type { OperationRecord, SessionState } from "../../shared/protocol/index.ts";

/** An operation as the log keeps it, with what `undo` needs to know. */
export interface OperationRow extends OperationRecord {
  /** State of the session before the operation; `null` where it had none. */
  stateBefore: SessionState | null;
}
