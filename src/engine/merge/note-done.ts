import type { Catalog } from "../../portable/catalog/index.ts";
import type { Journal, JournalRecord } from "./journal.ts";

const NO_DETAIL = { parts: null, since: null, state: "done", put: 0, removed: 0 } as const;

/**
 * Notes in the log of operations and in its record that an apply or merge is done, and in the record
 * of the one that it takes back, that this is undone. Returns its number; idempotent.
 */
export async function noteDone(
  record: JournalRecord,
  journal: Journal,
  { operations }: Catalog,
): Promise<number> {
  const undoes = record.undoes ?? null;
  const operation =
    record.operation ??
    findNoted(record, operations) ??
    operations.insert({
      ...{ session: record.session, kind: record.kind, checkpoint: record.checkpoint },
      ...{ undo: record.before, at: record.at, readyMs: null, stateBefore: null },
      detail: undoes === null ? null : { ...NO_DETAIL, undoes },
    });
  await journal.write({ ...record, operation });
  if (undoes !== null) await journal.noteUndone(undoes);
  return operation;
}

/** Who noted it in the log may not have come to note it in its record. */
function findNoted(record: JournalRecord, operations: Catalog["operations"]): number | undefined {
  const { session, kind, at } = record;
  return operations.all(session).find((each) => each.kind === kind && each.at === at)?.id;
}
