import type { Change } from "../../portable/records/index.ts";
import type { RecordTools } from "./checkpoint-record.ts";
import { type CheckpointFacts, type KeepRules, keptCheckpoints } from "./kept-checkpoints.ts";
import { OBJECTS_PREFIX, objectKey, writesPrefix } from "./record-keys.ts";
import { recordsBelow, surveyThread, type ThreadSurvey } from "./thread-survey.ts";

/** What a pruning has removed. */
export interface Pruned {
  checkpoints: number;
  /** Parts of values that nothing needs any more. */
  objects: number;
  /** Threads that were written all the while: nothing of them was removed. */
  busyThreads: string[];
}

/** A thread that somebody writes is looked at again, so often. */
const TRIES_MAX = 5;

/** Returns what was removed, null where the thread was written all the while. */
export async function pruneThread(
  tools: RecordTools,
  thread: string,
  rules: KeepRules,
  now: number,
): Promise<Omit<Pruned, "busyThreads"> | null> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const ifRevision = await tools.records.revision(thread);
    const { changes, ...counts } = await planPruning(tools, thread, rules, now);
    if (changes.length === 0) return counts;
    const { isDone } = await tools.records.write(thread, changes, { ifRevision });
    if (isDone) return counts;
  }
  return null;
}

async function planPruning(tools: RecordTools, thread: string, rules: KeepRules, now: number) {
  const survey = await surveyThread(tools, thread);
  const kept = keptCheckpoints(survey, await readFacts(tools, thread, survey), rules, now);
  const gone = survey.checkpoints.filter(({ key }) => !kept.has(key));
  const goneBelow = new Set(gone.map(({ record }) => writesPrefix(record.ns, record.id)));
  const goneWrites = survey.writes.filter(({ below }) => goneBelow.has(below));
  const goneNames = survey.names.filter(({ name }) =>
    goneBelow.has(writesPrefix(name.namespace, name.id)),
  );
  const needed = await neededObjects(tools, thread, survey, (each) => {
    return "below" in each ? !goneBelow.has(each.below) : kept.has(each.key);
  });
  const objects = await objectsBut(tools, thread, needed);
  const remove = ({ key }: { key: string }): Change => ({ key, value: null });
  // In this order: what is left by a crash is whole, wherever it comes.
  const changes = [...goneNames, ...gone, ...goneWrites, ...objects].map(remove);
  return { changes, checkpoints: gone.length, objects: objects.length };
}

/** Returns what each checkpoint says of itself, by its key. */
export async function readFacts(
  { records, values }: RecordTools,
  thread: string,
  { checkpoints }: ThreadSurvey,
): Promise<Map<string, CheckpointFacts>> {
  const stored = checkpoints.map(({ record }) => record.metadata);
  const facts = (await values.readAll(records, thread, stored)) as CheckpointFacts[];
  return new Map(checkpoints.map(({ key }, index) => [key, facts[index] as CheckpointFacts]));
}

/** Returns the ids of the objects that the chosen records need. */
export async function neededObjects(
  { records, values }: RecordTools,
  thread: string,
  { checkpoints, writes }: ThreadSurvey,
  isChosen: (each: ThreadSurvey["checkpoints"][number] | ThreadSurvey["writes"][number]) => boolean,
): Promise<Set<string>> {
  const needed = new Set<string>();
  const chosen = [...checkpoints, ...writes].filter(isChosen);
  const stored = chosen.flatMap(({ needs }) => needs);
  await values.collectIds(records, thread, stored, needed);
  return needed;
}

async function objectsBut(tools: RecordTools, thread: string, needed: ReadonlySet<string>) {
  const keys = new Set([...needed].map(objectKey));
  const others = [];
  for await (const record of recordsBelow(tools, thread, OBJECTS_PREFIX, true)) {
    if (!keys.has(record.key)) others.push(record);
  }
  return others;
}
