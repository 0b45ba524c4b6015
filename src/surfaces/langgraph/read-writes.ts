import type { RecordTools } from "./checkpoint-record.ts";
import { isOfOtherBranch, writesPrefix } from "./record-keys.ts";
import { openWrite, type WriteRecord } from "./write-record.ts";

/** A write below a checkpoint. */
export interface FoundWrite {
  row: WriteRecord;
  /** Whether it is the one that a resumed run reads, not one of another branch. */
  isFirst: boolean;
}

const PAGE = 500;

/** Returns the writes below a checkpoint, by task and then in the order in which it made them. */
export async function readWrites(
  tools: RecordTools,
  { thread, namespace, id }: { thread: string; namespace: string; id: string },
): Promise<FoundWrite[]> {
  const prefix = writesPrefix(namespace, id);
  const found: FoundWrite[] = [];
  for (let after = ""; ; ) {
    const page = await tools.records.scan(thread, { prefix, after, limit: PAGE });
    for (const { key, value } of page) {
      const row = await openWrite(tools, { thread, key }, value);
      found.push({ row, isFirst: !isOfOtherBranch(key) });
    }
    if (page.length < PAGE) return found;
    after = page.at(-1)?.key ?? after;
  }
}
