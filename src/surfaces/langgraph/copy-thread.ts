import type { Change } from "../../portable/records/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { RecordTools } from "./checkpoint-record.ts";
import type { CheckpointFacts } from "./kept-checkpoints.ts";
import { neededObjects, readFacts } from "./prune-thread.ts";
import { CHECKPOINTS_PREFIX, objectKey, writesPrefix } from "./record-keys.ts";
import type { SaverTools } from "./saver-tools.ts";
import { damaged } from "./seal.ts";
import {
  type SurveyedCheckpoint,
  type SurveyedWrite,
  surveyThread,
  type ThreadSurvey,
} from "./thread-survey.ts";

/** Where a copy begins to be, and how much of the other it has. */
export interface CopyRange {
  source: string;
  target: string;
  /** The checkpoint of the graph itself with which the copy ends; null for all there is. */
  upTo: string | null;
}

const OBJECTS_PAGE = 200;

/**
 * Copies a thread, or the way to one of its checkpoints, to a thread that is not there yet.
 *
 * **On failure** there is no target that anybody would read.
 *
 * @throws THREAD_EXISTS  the target has checkpoints.
 * @throws CHECKPOINT_NOT_FOUND  the source has none, or not that one.
 */
export async function copyThread(tools: SaverTools, range: CopyRange): Promise<number> {
  const { source, target } = range;
  const { records, seal } = tools;
  const [there] = await records.scan(target, { prefix: CHECKPOINTS_PREFIX, limit: 1 });
  if (there !== undefined) throw exists(target);
  const survey = await surveyThread(tools, source);
  const chosen = choose(survey, await readFacts(tools, source, survey), range);
  const needed = await neededObjects(tools, source, survey, (each) => chosen.keys.has(each.key));
  try {
    await copyObjects(tools, range, [...needed]);
    const move = ({ key, kept }: { key: string; kept: Uint8Array }): Change => {
      // A record is closed for its thread.
      return { key, value: seal.close(seal.open(kept, `${source}\n${key}`), `${target}\n${key}`) };
    };
    const writes = survey.writes.filter(({ key }) => chosen.keys.has(key));
    await records.write(target, [...writes.map(move), ...tools.expiry.changesFor(target, true)]);
    const names = survey.names.filter(({ name }) =>
      chosen.below.has(writesPrefix(name.namespace, name.id)),
    );
    await records.write(target, [...chosen.checkpoints, ...names].map(move));
  } catch (error) {
    await records.deleteThread(target);
    throw error;
  }
  return chosen.checkpoints.length;
}

/** Returns the checkpoints to copy, the oldest first, and the keys of all records to copy. */
function choose(
  survey: ThreadSurvey,
  factsOf: ReadonlyMap<string, CheckpointFacts>,
  { source, upTo }: CopyRange,
) {
  const all = survey.checkpoints.toSorted((one, other) =>
    one.record.id < other.record.id ? -1 : 1,
  );
  // What tasks wrote below the last one led on to others: the copy takes another way.
  const isLedOn = all.some(({ record }) => record.ns === "" && record.parent === upTo);
  const isOfLast = (each: SurveyedCheckpoint) =>
    !isLedOn && factsOf.get(each.key)?.parents?.[""] === upTo;
  const checkpoints = upTo === null ? all : wayTo(all, upTo, isOfLast);
  if (checkpoints.length === 0) {
    throw new WaypointError("CHECKPOINT_NOT_FOUND", `Thread ${source} has no such checkpoint.`, {
      hint: "List the thread's checkpoints for what there is.",
    });
  }
  const below = new Set(checkpoints.map(({ record }) => writesPrefix(record.ns, record.id)));
  const end = upTo !== null && isLedOn ? writesPrefix("", upTo) : null;
  const isChosen = (write: SurveyedWrite) => below.has(write.below) && write.below !== end;
  const writes = survey.writes.filter(isChosen);
  return { checkpoints, below, keys: new Set([...checkpoints, ...writes].map(({ key }) => key)) };
}

/** Returns the checkpoint and its ancestors, with those of their subgraphs. */
function wayTo(
  all: readonly SurveyedCheckpoint[],
  upTo: string,
  isOfLast: (each: SurveyedCheckpoint) => boolean,
): SurveyedCheckpoint[] {
  const roots = new Map(
    all.filter(({ record }) => record.ns === "").map((each) => [each.record.id, each]),
  );
  const way = new Set<SurveyedCheckpoint>();
  for (let each = roots.get(upTo); each !== undefined && !way.has(each); ) {
    way.add(each);
    each = roots.get(each.record.parent ?? "");
  }
  if (way.size === 0) return [];
  // A subgraph that waits below the last one has gone on after it.
  const isBefore = (each: SurveyedCheckpoint) => each.record.id < upTo || isOfLast(each);
  return all.filter((each) => way.has(each) || (each.record.ns !== "" && isBefore(each)));
}

async function copyObjects(
  { records, seal }: RecordTools,
  { source, target }: CopyRange,
  ids: readonly string[],
): Promise<void> {
  for (let at = 0; at < ids.length; at += OBJECTS_PAGE) {
    const page = ids.slice(at, at + OBJECTS_PAGE);
    const found = await records.read(source, page.map(objectKey));
    const changes = page.map((id): Change => {
      const key = objectKey(id);
      // Compared with its name: a damaged one is not handed on.
      const kept = found.get(key);
      if (kept === undefined) throw damaged(key);
      seal.openContent(kept, key, id);
      return { key, value: kept, mode: "content" };
    });
    await records.write(target, changes);
  }
}

function exists(target: string): WaypointError {
  return new WaypointError("THREAD_EXISTS", `Thread ${target} has checkpoints already.`, {
    hint: "Copy to another thread_id, or delete that thread first.",
  });
}
