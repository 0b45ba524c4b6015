import { type RawPath, toText } from "../../base/index.ts";
import type { Holder, RestoreParts } from "../../shared/protocol/index.ts";
import { findFileChanges, type Moment, MomentFiles } from "../moment/index.ts";
import type { Engine } from "../ports/index.ts";
import { WHOLE_SCOPE } from "../story/index.ts";
import { actionsFor, type ComparedFiles, type FileAction, touchedPaths } from "./file-actions.ts";
import { requirePaths, scopeOf } from "./file-scope.ts";

/** Paths of one process that are named; further ones are counted. */
const HELD_PATHS_MAX = 20;

/** Two moments with their files open: as it is, and what it is put back to. */
export class ComparedMoments implements Disposable {
  readonly now: Moment;
  readonly past: Moment;
  readonly files: ComparedFiles;

  constructor(now: Moment, past: Moment) {
    this.now = now;
    this.past = past;
    this.files = { now: new MomentFiles(now), past: new MomentFiles(past) };
  }

  [Symbol.dispose](): void {
    this.files.now[Symbol.dispose]();
    this.files.past[Symbol.dispose]();
  }
}

/**
 * Returns what has to be done for the files of some parts to be as they were then.
 *
 * @throws FILE_NOT_FOUND | FILE_REFUSED  a path that was named | STORE_FAILED
 */
export async function findActions(
  { now, past, files }: ComparedMoments,
  parts: RestoreParts,
  engine: Engine,
  signal: AbortSignal,
): Promise<FileAction[]> {
  requirePaths(parts, [
    { moment: now, files: files.now },
    { moment: past, files: files.past },
  ]);
  const both = { from: files.now, to: files.past };
  const context = { scope: WHOLE_SCOPE, engine, signal };
  const { changes } = await findFileChanges({ from: now, to: past }, context, both);
  const isWanted = scopeOf(parts);
  return actionsFor([...touchedPaths(changes, both)].filter(isWanted), files);
}

/** Returns the processes of a live session that have files open which actions replace or remove. */
export function findHolders(
  actions: readonly FileAction[],
  session: string,
  engine: Engine,
): Holder[] {
  const live = engine.live.get(session);
  if (live === undefined) return [];
  const replaced = new Set<RawPath>(
    actions.filter(({ have }) => have?.type === "file").map(({ rawPath }) => rawPath),
  );
  return engine.sandbox.listOpenFiles(live.pid).flatMap(({ pid, command, paths }) => {
    const held = [...paths].filter((each) => replaced.has(each)).sort();
    if (held.length === 0) return [];
    return [
      { pid, command, paths: held.slice(0, HELD_PATHS_MAX).map(toText), pathsCount: held.length },
    ];
  });
}
