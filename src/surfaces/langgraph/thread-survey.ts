import {
  type CheckpointRecord,
  elsewhereOf,
  openCheckpoint,
  openRecord,
  type RecordTools,
} from "./checkpoint-record.ts";
import { CHECKPOINTS_PREFIX, idInWriteKey, NAMES_PREFIX, WRITES_PREFIX } from "./record-keys.ts";
import type { StoredValue } from "./stored-value.ts";
import { openWrite, type WriteRecord } from "./write-record.ts";

/** A record, where it lies and what it needs. */
interface Surveyed {
  key: string;
  /** As it is kept. */
  kept: Uint8Array;
  needs: readonly StoredValue[];
}

export interface SurveyedCheckpoint extends Surveyed {
  record: CheckpointRecord;
}

export interface SurveyedWrite extends Surveyed {
  row: WriteRecord;
  /** What its key shares with those of the same checkpoint. */
  below: string;
}

/** All that a thread has, but the objects. */
export interface ThreadSurvey {
  checkpoints: readonly SurveyedCheckpoint[];
  writes: readonly SurveyedWrite[];
  names: readonly { key: string; kept: Uint8Array; name: NameRecord }[];
}

/** A name that somebody has given to a checkpoint. */
export interface NameRecord {
  name: string;
  namespace: string;
  id: string;
}

const PAGE = 500;

/** Reads all that a thread has, but the objects. */
export async function surveyThread(tools: RecordTools, thread: string): Promise<ThreadSurvey> {
  const checkpoints: SurveyedCheckpoint[] = [];
  for await (const { key, value } of recordsBelow(tools, thread, CHECKPOINTS_PREFIX)) {
    const record = await openCheckpoint(tools, { thread, key }, value);
    const needs = [record.metadata, ...record.values.map(([, stored]) => stored)];
    checkpoints.push({
      key,
      kept: value,
      record,
      needs: [...needs, ...own(tools, thread, key, value)],
    });
  }
  const writes: SurveyedWrite[] = [];
  for await (const { key, value } of recordsBelow(tools, thread, WRITES_PREFIX)) {
    const row = await openWrite(tools, { thread, key }, value);
    const needs = [row.value, ...own(tools, thread, key, value)];
    writes.push({ key, kept: value, row, below: idInWriteKey(key), needs });
  }
  return { checkpoints, writes, names: await readNames(tools, thread) };
}

/** Returns the names that checkpoints of a thread have. */
export async function readNames(
  tools: RecordTools,
  thread: string,
): Promise<{ key: string; kept: Uint8Array; name: NameRecord }[]> {
  const names = [];
  for await (const { key, value } of recordsBelow(tools, thread, NAMES_PREFIX)) {
    const name = await openRecord<NameRecord>(tools, { thread, key }, value, isName);
    names.push({ key, kept: value, name });
  }
  return names;
}

function isName({ name, namespace, id }: Partial<NameRecord>): boolean {
  return [name, namespace, id].every((text) => typeof text === "string");
}

/** Yields all records whose keys begin so. */
export async function* recordsBelow(
  { records }: RecordTools,
  thread: string,
  prefix: string,
  isKeysOnly = false,
) {
  for (let after = ""; ; ) {
    const page = await records.scan(thread, { prefix, after, limit: PAGE, isKeysOnly });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.key ?? after;
  }
}

function own(tools: RecordTools, thread: string, key: string, kept: Uint8Array): StoredValue[] {
  const elsewhere = elsewhereOf(tools, { thread, key }, kept);
  return elsewhere === null ? [] : [elsewhere];
}
