import path from "node:path";
import type { Session } from "../../src/index.ts";
import type { StoryEntry } from "../../src/portable/catalog/index.ts";
import { SqliteCatalog } from "../../src/portable/catalog/sqlite/index.ts";
import type { CheckpointRow } from "../../src/portable/model/index.ts";

/** Rows that are written in one transaction. */
const ROWS_AT_ONCE = 500;
/** What one checkpoint of somebody's work touches and prints, about. */
const PATHS_TOUCHED = 12;
const OUTPUT_LINES = 40;
const PACKAGES_EVERY = 10;

/**
 * Lengthens a session's history in the catalog, which the timeline is read from, as the daemon itself
 * would write it: each row is a copy of its newest checkpoint's, with an id, a moment, an intent and
 * a story of its own. There are no captures behind the copies; nothing but the timeline may be asked
 * for them. Every fiftieth begins a branch.
 */
export function lengthenHistory(stateDir: string, session: Session, count: number): void {
  using catalog = SqliteCatalog.open(path.join(stateDir, "catalog.sqlite"), () => {});
  const head = catalog.checkpoints(session.id).at(-1);
  if (head === undefined) throw new Error("the session has no checkpoint");
  let parent = head;
  for (let made = 0; made < count; made += ROWS_AT_ONCE) {
    catalog.transaction(() => {
      for (let n = made; n < Math.min(count, made + ROWS_AT_ONCE); n += 1) {
        const row = copyOf(head, n, parent.id);
        catalog.insertCheckpoint(row);
        if (n % 50 !== 49) parent = row;
      }
    });
  }
  for (let n = 0; n < count; n += 1) catalog.stories.put(storyOf(idOf(n), n));
  catalog.transaction(() => catalog.updateSession(session.id, { head: parent.id }));
}

function copyOf(head: CheckpointRow, n: number, parent: string): CheckpointRow {
  const createdAt = new Date(Date.parse(head.createdAt) + (n + 1) * 1000).toISOString();
  const intent = n % 4 === 0 ? `step ${n}: make the tests of part ${n % 97} pass` : null;
  return { ...head, id: idOf(n), parent, intent, createdAt, name: null, heldBy: null };
}

function idOf(n: number): string {
  // As random as real ids, so that they are shortened alike, and the same in every run.
  return ((n + 1) * 2_654_435_761).toString(32).padStart(10, "0").slice(-10);
}

function storyOf(checkpoint: string, n: number): StoryEntry {
  const paths = Array.from(
    { length: PATHS_TOUCHED },
    (_, each) => `/srv/app/src/part-${(n + each) % 97}/file-${each}.ts`,
  );
  const output = Array.from(
    { length: OUTPUT_LINES },
    (_, line) => `ok ${n}.${line} - part ${(n * line) % 97} does what it is meant to`,
  );
  const packages = n % PACKAGES_EVERY === 0 ? [`package-${n % 211}`] : [];
  return {
    ...{ checkpoint, summary: `+3 ~${PATHS_TOUCHED - 3} files, redis up` },
    ...{ intent: `npm test -- part-${n % 97}`, intentSource: "command" },
    ...{ intentExitCode: 0, failedAfter: null, failedAfterExitCode: null },
    touched: [
      ...paths.map((name) => ({ kind: "path", name }) as const),
      ...packages.map((name) => ({ kind: "package", name }) as const),
    ],
    text: [`npm test -- part-${n % 97}`, ...output].join("\n"),
  };
}
