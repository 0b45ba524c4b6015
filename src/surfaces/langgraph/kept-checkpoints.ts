import { WaypointError } from "../../shared/errors/index.ts";
import type { SurveyedCheckpoint, ThreadSurvey } from "./thread-survey.ts";

/** Which checkpoints stay; one that any rule keeps does. */
export interface KeepRules {
  /** So many of the newest. @defaultValue 1 */
  keepLast?: number;
  /** Those that are younger. @defaultValue none for their age */
  keepYoungerThanMs?: number;
  /** Those that have a name. @defaultValue true */
  keepNamed?: boolean;
}

/** What a checkpoint says of itself. */
export interface CheckpointFacts {
  source?: string;
  parents?: Record<string, string>;
  counters_since_delta_snapshot?: Record<string, unknown>;
}

const ROOT_NAMESPACE = "";

/**
 * Returns the keys of the checkpoints that stay.
 *
 * The rules speak of the graph's own; those of its subgraphs stay with the one that they belong to.
 * What a kept one is made of stays too: a channel that is kept as its writes needs those.
 */
export function keptCheckpoints(
  survey: ThreadSurvey,
  factsOf: ReadonlyMap<string, CheckpointFacts>,
  { keepLast = 1, keepYoungerThanMs, keepNamed = true }: KeepRules,
  now: number,
): Set<string> {
  requireCount("keepLast", keepLast, 1);
  if (keepYoungerThanMs !== undefined) requireCount("keepYoungerThanMs", keepYoungerThanMs, 0);
  const byPlace = new Map(survey.checkpoints.map((each) => [placeOf(each), each]));
  const roots = survey.checkpoints
    .filter(({ record }) => record.ns === ROOT_NAMESPACE)
    .sort((one, other) => (one.record.id < other.record.id ? 1 : -1));
  const kept = new Set(roots.slice(0, keepLast));
  for (const each of roots) {
    const ageMs = now - Date.parse(each.record.ts);
    if (keepYoungerThanMs !== undefined && ageMs < keepYoungerThanMs) kept.add(each);
  }
  for (const { name } of keepNamed ? survey.names : []) {
    const named = byPlace.get(JSON.stringify([name.namespace, name.id]));
    if (named !== undefined) kept.add(named);
  }
  const keptRoots = new Set(
    [...kept].filter(({ record }) => record.ns === ROOT_NAMESPACE).map(({ record }) => record.id),
  );
  for (const each of survey.checkpoints) {
    if (isOfRoots(each, keptRoots, factsOf)) kept.add(each);
  }
  // Those that are added on the way are gone through, too: each that stays can be read.
  for (const each of kept) addSources(each, kept, byPlace, factsOf);
  return new Set([...kept].map(({ key }) => key));
}

/** Tells whether a checkpoint of a subgraph belongs to one of these, or to none that is known. */
function isOfRoots(
  { key, record }: SurveyedCheckpoint,
  rootIds: ReadonlySet<string>,
  factsOf: ReadonlyMap<string, CheckpointFacts>,
): boolean {
  if (record.ns === ROOT_NAMESPACE) return false;
  const root = factsOf.get(key)?.parents?.[ROOT_NAMESPACE];
  return root === undefined || rootIds.has(root);
}

/** Adds the ancestors that have the writes of which a checkpoint's channels are made. */
function addSources(
  from: SurveyedCheckpoint,
  kept: Set<SurveyedCheckpoint>,
  byPlace: ReadonlyMap<string, SurveyedCheckpoint>,
  factsOf: ReadonlyMap<string, CheckpointFacts>,
): void {
  const open = deltaChannels(from, byPlace, factsOf);
  const seen = new Set<SurveyedCheckpoint>();
  for (let each = from; open.size > 0; ) {
    const parent = parentOf(each, byPlace);
    if (parent === undefined || seen.has(parent)) return;
    seen.add(parent);
    kept.add(parent);
    for (const [name] of parent.record.values) open.delete(name);
    each = parent;
  }
}

/** Returns the channels without a value of their own that count their steps since the last one. */
function deltaChannels(
  each: SurveyedCheckpoint,
  byPlace: ReadonlyMap<string, SurveyedCheckpoint>,
  factsOf: ReadonlyMap<string, CheckpointFacts>,
): Set<string> {
  const found = new Set<string>();
  const seen = new Set<SurveyedCheckpoint>();
  // An update by hand does not count: the ones before it do.
  for (let at: SurveyedCheckpoint | undefined = each; at !== undefined && !seen.has(at); ) {
    seen.add(at);
    const facts: CheckpointFacts | undefined = factsOf.get(at.key);
    for (const name of Object.keys(facts?.counters_since_delta_snapshot ?? {})) found.add(name);
    at = facts?.source === "loop" || facts?.source === "input" ? undefined : parentOf(at, byPlace);
  }
  for (const [name] of each.record.values) found.delete(name);
  return found;
}

function parentOf(
  { record }: SurveyedCheckpoint,
  byPlace: ReadonlyMap<string, SurveyedCheckpoint>,
): SurveyedCheckpoint | undefined {
  return record.parent === null
    ? undefined
    : byPlace.get(JSON.stringify([record.ns, record.parent]));
}

function placeOf({ record }: SurveyedCheckpoint): string {
  return JSON.stringify([record.ns, record.id]);
}

function requireCount(name: string, value: number, min: number): void {
  if (Number.isFinite(value) && value >= min) return;
  throw new WaypointError("USAGE_INVALID", `${name} has to be a number from ${min} on.`);
}
