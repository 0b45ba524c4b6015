import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { Contacts } from "../../shared/protocol/index.ts";

/** Whom sessions talk to. Nothing of it fails: what cannot be read is logged, and told as unknown. */
export interface ContactBook {
  /** Gives a checkpoint what was noted of its session's instance until then. */
  capture(session: SessionRow, checkpoint: Pick<CheckpointRow, "id" | "createdAt">): void;
  /**
   * Looks and notes: before an instance is captured, or its link goes, or for a checkpoint that is it itself.
   * `null` for an instance: there is none.
   */
  settle(instanceId: string | null, checkpoint: string | null): Promise<void>;
  /** Forgets an instance whose link is gone. */
  forgetInstance(instanceId: string): void;
  /** Returns whom a session has talked to since a checkpoint, whatever it was restored to; null: ever. */
  since(session: SessionRow, checkpoint: CheckpointRow | null): Promise<Contacts>;
  /** Returns whom it had talked to between the parent of a checkpoint and that. */
  of(checkpoint: CheckpointRow): Contacts;
  /** Returns the same in a few words, for each checkpoint that has some. */
  briefs(): Map<string, string>;
  /** Forgets a session that is removed. */
  forget(session: string): void;
  close(): void;
}
