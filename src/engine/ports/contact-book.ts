import type { Counted } from "../../portable/contacts/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { Contacts } from "../../shared/protocol/index.ts";

/** What an instance had been counted to have at one moment. */
export interface ContactMoment {
  instance: string;
  at: string;
  counted: Counted;
  sentPackets: number | null;
}

/** Whom sessions talk to. Nothing of it fails: what cannot be read is logged, and told as unknown. */
export interface ContactBook {
  /** Looks what an instance has been counted to have; `null` where it has sent nothing since. */
  look(instanceId: string | null): Promise<ContactMoment | null>;
  /** Notes what was seen for a checkpoint that was taken of an instance. */
  capture(
    moment: ContactMoment | null,
    session: SessionRow,
    checkpoint: Pick<CheckpointRow, "id" | "createdAt">,
  ): void;
  /** Looks and notes: before the link of an instance goes, or for a checkpoint that is it itself. */
  settle(instanceId: string, checkpoint: string | null): Promise<void>;
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
