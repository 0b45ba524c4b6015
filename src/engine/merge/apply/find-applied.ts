import { readFile } from "node:fs/promises";
import { isSystemError } from "../../../base/index.ts";
import type { Catalog } from "../../../portable/catalog/index.ts";
import type { CheckpointRow } from "../../../portable/model/index.ts";
import type { TargetPath, Version } from "../../changes/index.ts";
import type { Journal, JournalRecord, KeptStep } from "../journal.ts";
import type { Mapping } from "./map-paths.ts";

/** What earlier applies of a line have made of one path; one of the two. */
interface Effect {
  /** Nobody but the line has a part in what is there, if it is like this. */
  left?: Version | null;
  /** What the line had when it was joined with what somebody else had made. */
  joinedFrom?: Version;
}

/** What earlier applies have made, by path of the target. */
export type Applied = ReadonlyMap<TargetPath, Effect>;

/**
 * Returns what earlier applies of a checkpoint's line have made of the paths of a directory.
 *
 * One that was taken back counts as if it had not been: what it had replaced may be a person's work.
 */
export async function findApplied(
  row: CheckpointRow,
  { directory }: Mapping,
  journal: Journal,
  catalog: Catalog,
): Promise<Applied> {
  const line = new Set(catalog.line(row.id).map(({ id }) => id));
  const applied = new Map<TargetPath, Effect>();
  /** What held for the paths of an operation before it. */
  const earlier = new Map<number, Applied>();
  for (const record of await journal.list()) {
    const { kind, destination, checkpoint, steps, state, operation, undoes } = record;
    const isHere = destination.kind === "machine" && destination.directory === directory;
    const isDone = state === "done" || state === "undone";
    if (kind !== "apply" || !isHere || !isDone || !line.has(checkpoint)) continue;
    if (operation !== null) earlier.set(operation, effectsBefore(steps, applied));
    for (const step of steps) {
      const effect =
        undoes === null
          ? await effectOf(step, record, journal)
          : effectBefore(undoes, step, earlier);
      if (effect === undefined) applied.delete(step.path);
      else applied.set(step.path, effect);
    }
  }
  return applied;
}

/** @param undoes  `undefined` in a record of an older version, of which nothing is sure. */
function effectBefore(
  undoes: number | undefined,
  { path }: KeptStep,
  earlier: ReadonlyMap<number, Applied>,
): Effect | undefined {
  return undoes === undefined ? undefined : earlier.get(undoes)?.get(path);
}

async function effectOf(
  { joinedFrom, after, number }: KeptStep,
  { id }: JournalRecord,
  journal: Journal,
): Promise<Effect> {
  if (joinedFrom === null) return { left: after };
  const text = await readIfThere(journal.joinedPath(id, number));
  if (text === null || !("digest" in joinedFrom.content)) return { joinedFrom };
  return { joinedFrom: { ...joinedFrom, content: { ...joinedFrom.content, text } } };
}

/** What was replaced without a conflict was the base: it can be replaced again. */
function effectsBefore(steps: readonly KeptStep[], applied: Applied): Applied {
  const effects = new Map<TargetPath, Effect>();
  // A path of two steps was removed first: that step has what was there.
  for (const { path, before, joinedFrom, isForced } of steps.toReversed()) {
    const known = applied.get(path);
    const wasBase = joinedFrom === null && !isForced;
    if (known !== undefined) effects.set(path, known);
    else if (wasBase) effects.set(path, { left: before });
  }
  return effects;
}

async function readIfThere(filePath: string): Promise<Buffer | null> {
  try {
    return await readFile(filePath);
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return null;
    throw error;
  }
}
