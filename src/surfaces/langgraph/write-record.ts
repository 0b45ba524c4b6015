import { openRecord, type RecordTools } from "./checkpoint-record.ts";
import { isStored, type StoredValue } from "./stored-value.ts";

/** A write of a task, as it is kept. */
export interface WriteRecord {
  task: string;
  channel: string;
  /** The hash of all that the task wrote: branches are told apart by it. */
  set: string;
  value: StoredValue;
}

/** @throws STORE_FAILED  it is damaged. */
export async function openWrite(
  tools: RecordTools,
  at: { thread: string; key: string },
  kept: Uint8Array,
): Promise<WriteRecord> {
  return await openRecord<WriteRecord>(tools, at, kept, ({ task, channel, set, value }) => {
    return [task, channel, set].every((text) => typeof text === "string") && isStored(value);
  });
}
