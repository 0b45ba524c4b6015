import type { Caller } from "../../shared/protocol/index.ts";

/**
 * `waiting` for a person; `approved` and not begun; `denied` or `expired`: nothing ran; `used`: begun,
 * once. One that was begun and has no exit code may have ended unseen.
 */
export type ApprovalState = "waiting" | "approved" | "denied" | "expired" | "used";

/** A step that a person has to approve, and what came of it. Kept for ever; no restore touches it. */
export interface Approval {
  id: string;
  session: string;
  sessionName: string;
  /** The processes that it was asked for; after a restore they are others. */
  instance: string;
  /** The same for the same command, asked for in the same way. */
  fingerprint: string;
  command: string;
  rule: string;
  /** Taken before it. */
  checkpoint: string;
  askedAt: string;
  askedBy: Caller | null;
  expiresAt: string;
  state: ApprovalState;
  settledAt: string | null;
  /** The person; what expires, and what was noted before there was this, has none. */
  answeredBy: Caller | null;
  why: string | null;
  exitCode: number | null;
}

/** What a move notes; `null` leaves what is there. */
export type ApprovalMove = Pick<Approval, "state" | "settledAt" | "answeredBy" | "why">;

/** Approvals, each change of which has reached the disk when it returns. */
export interface ApprovalLog extends Disposable {
  insert(approval: Approval): void;
  get(id: string): Approval | undefined;
  /** Those that wait first, then the newest. */
  list(options: { session: string | null; countMax: number }): Approval[];
  /** Returns one that waits, or is approved and was not begun, for the same command of the same processes. */
  findOpen(asked: Pick<Approval, "session" | "instance" | "fingerprint">): Approval[];
  /** Moves one on, unless it is in another state by now: of two who try it one succeeds. */
  move(id: string, from: ApprovalState, to: ApprovalMove): boolean;
  /** Ends those whose time is over. */
  expire(now: string): void;
  end(id: string, exitCode: number | null): void;
}
