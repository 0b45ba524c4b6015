import { type RawPath, toText } from "../../base/index.ts";
import type { CheckpointRow } from "../../portable/model/index.ts";
import type { Conflict, RestoreParts } from "../../shared/protocol/index.ts";
import {
  findFileChanges,
  type Moment,
  MomentFiles,
  openMoment,
  type TreeEntry,
} from "../moment/index.ts";
import type { Engine } from "../ports/index.ts";
import { WHOLE_SCOPE } from "../story/index.ts";
import { actionsFor, type FileAction, touchedPaths } from "./file-actions.ts";
import { requirePaths, scopeOf } from "./file-scope.ts";
import type { ComparedMoments } from "./find-actions.ts";
import type { LineReverts } from "./line-reverts.ts";

/** What to put back, and what was changed again and so stays. */
export interface FoundRevert {
  actions: FileAction[];
  /** Of which lines go back, and lines that were changed since stay. */
  joined: RawPath[];
  conflicts: Conflict[];
}

/**
 * Returns what takes back what changed in files between two checkpoints.
 *
 * Path by path: what has not changed since `to` is put back as `from` has it. Of a text that has,
 * the changed lines go back. All else that has is a conflict and stays, unless `force` is given;
 * what is as in `from` already needs nothing.
 *
 * @param pair   the session as it is now, and `from`.
 * @param joins  holds what comes out of joined lines until it is put in place.
 * @throws FILE_NOT_FOUND | FILE_REFUSED  a path that was named | STORE_FAILED
 */
export async function findRevert(
  pair: ComparedMoments,
  { to, parts, force }: { to: CheckpointRow; parts: RestoreParts; force: boolean },
  joins: LineReverts,
  engine: Engine,
  signal: AbortSignal,
): Promise<FoundRevert> {
  await using later = await openMoment({ checkpoint: to }, engine);
  using laterFiles = new MomentFiles(later);
  const now = { moment: pair.now, files: pair.files.now };
  const earlier = { moment: pair.past, files: pair.files.past };
  const between = { moment: later, files: laterFiles };
  requirePaths(parts, [now, earlier, between]);
  const touched = (one: Opened, other: Opened) => pathsBetween(one, other, engine, signal);
  const isWanted = scopeOf(parts);
  const changed = [...(await touched(between, earlier))].filter(isWanted);
  const changedSince = await touched(between, now);
  const different = await touched(now, earlier);
  const wanted = changed.filter((path) => different.has(path));
  const contested = wanted.filter((path) => changedSince.has(path));
  const texts = new Map<RawPath, TreeEntry>();
  const conflicts: Conflict[] = [];
  const kept = new Set<RawPath>();
  for (const path of contested) {
    const [was, became, is] = [earlier, between, now].map(({ files }) => files.find(path));
    const entries = { was: was ?? null, became: became ?? null, is: is ?? null };
    const text = await joins.join(path, entries);
    if (text !== null && text === entries.is) kept.add(path);
    else if (text !== null) texts.set(path, text);
    else if (!force) {
      kept.add(path);
      conflicts.push({
        path: toText(path),
        between: changeOf(entries.was, entries.became),
        since: changeOf(entries.became, entries.is),
      });
    }
  }
  const uncontested = wanted.filter((path) => !kept.has(path));
  const actions = actionsFor(uncontested, pair.files).map((action) => {
    return { ...action, want: texts.get(action.rawPath) ?? action.want };
  });
  return { actions, joined: [...texts.keys()], conflicts };
}

interface Opened {
  moment: Moment;
  files: MomentFiles;
}

async function pathsBetween(
  from: Opened,
  to: Opened,
  engine: Engine,
  signal: AbortSignal,
): Promise<Set<RawPath>> {
  const both = { from: from.files, to: to.files };
  const context = { scope: WHOLE_SCOPE, engine, signal };
  const pair = { from: from.moment, to: to.moment };
  return touchedPaths((await findFileChanges(pair, context, both)).changes, both);
}

/** Returns what happened to a path, from what it was and what it is. */
export function changeOf(was: TreeEntry | null, is: TreeEntry | null): Conflict["since"] {
  if (was === null) return "added";
  return is === null ? "deleted" : "modified";
}
