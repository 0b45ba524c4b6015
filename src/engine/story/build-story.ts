import type { CheckpointRow } from "../../portable/model/index.ts";
import type { Changes, MomentSection, Story } from "../../shared/protocol/index.ts";
import type { MomentPair, ReadContext, ReadingEngine } from "../moment/index.ts";
import { type Moment, openCheckpoint, openFresh } from "../moment/index.ts";
import { keepBaseVersions } from "./base/keep-base-versions.ts";
import { compareMoments, WHOLE_SCOPE } from "./compare-moments.ts";
import { shareFileChanges } from "./files/share-file-changes.ts";
import type { MomentReader } from "./section.ts";
import { MOMENT_READERS } from "./sections.ts";
import { withDeadline } from "./with-deadline.ts";

const MOMENT_SECTIONS: readonly MomentSection[] = ["intent", "terminal", "commands"];
const NOT_READ = "this version of Waypoint does not read it";

type MomentPart = Awaited<ReturnType<MomentReader["read"]>>;

/**
 * Reads a checkpoint's story from the captures: its own and its parent's.
 *
 * Where the parent is gone or there was none, it is compared with a fresh session on its base.
 *
 * @throws CHECKPOINT_INCOMPLETE  its files are gone.
 */
export async function buildStory(
  row: CheckpointRow,
  engine: ReadingEngine,
  signal: AbortSignal,
): Promise<Story> {
  const startedAtMs = performance.now();
  await using to = await openCheckpoint(row, engine);
  await using from = await openBefore(row, engine);
  const pair = { from, to };
  const context = { scope: WHOLE_SCOPE, engine, signal };
  using shared = shareFileChanges(pair, context);
  const [changes, moment] = await Promise.all([
    compareMoments(pair, context),
    readMoment(pair, context),
    keepBaseVersions(row, shared.changes, context),
  ]);
  return {
    checkpoint: row.id,
    parent: from.checkpoint?.id ?? null,
    builtAt: new Date().toISOString(),
    tookMs: Math.round((performance.now() - startedAtMs) * 100) / 100,
    changes,
    ...moment,
  };
}

/** Entries of files that one answer holds at most; the totals count beyond it. */
const ALL_FILES_MAX = 20_000;

/** Returns every file that a story has, noise one by one. @throws CHECKPOINT_INCOMPLETE */
export async function listAllFiles(
  row: CheckpointRow,
  engine: ReadingEngine,
  signal: AbortSignal,
): Promise<Pick<Changes, "files" | "fileTotals">> {
  await using to = await openCheckpoint(row, engine);
  await using from = await openBefore(row, engine);
  const expanded = { isExpanded: true, filesMax: ALL_FILES_MAX, sections: ["files"] as const };
  const scope = { ...WHOLE_SCOPE, ...expanded };
  const { files, fileTotals } = await compareMoments({ from, to }, { scope, engine, signal });
  return { files, fileTotals };
}

async function openBefore(row: CheckpointRow, engine: ReadingEngine): Promise<Moment> {
  const parent = row.parent === null ? undefined : engine.catalog.checkpoint(row.parent);
  return parent === undefined ? await openFresh(row, engine) : await openCheckpoint(parent, engine);
}

async function readMoment(pair: MomentPair, context: ReadContext) {
  const parts = await Promise.all(MOMENT_READERS.map((reader) => readPart(reader, pair, context)));
  const nulls = { intent: null, terminal: null, commands: null };
  const known = Object.assign({}, ...parts) as MomentPart;
  const reasons = Object.assign({}, ...parts.map(({ unknown }) => unknown ?? {}));
  const readSections = new Set(MOMENT_READERS.flatMap(({ sections }) => sections));
  const notRead = MOMENT_SECTIONS.filter((section) => !readSections.has(section));
  // A reader may also name a part of a section that it could not read.
  const unknown = { ...Object.fromEntries(notRead.map((each) => [each, NOT_READ])), ...reasons };
  return { ...nulls, ...known, unknown };
}

async function readPart(
  reader: MomentReader,
  pair: MomentPair,
  context: ReadContext,
): Promise<MomentPart> {
  try {
    return await withDeadline(context, (bounded) => reader.read(pair, bounded));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { unknown: Object.fromEntries(reader.sections.map((section) => [section, reason])) };
  }
}
