import { type CheckpointTuple, WRITES_IDX_MAP } from "@langchain/langgraph-checkpoint";

/** A checkpoint as a saver has to return it. */
export interface ModelCheckpoint {
  namespace: string;
  id: string;
  parent: string | null;
  ts: string;
  metadata: { step: number; parents: Record<string, string> };
  values: Record<string, unknown>;
  versions: Record<string, number>;
}

interface ModelWrite {
  task: string;
  index: number;
  channel: string;
  value: unknown;
}

interface ModelThread {
  checkpoints: Map<string, ModelCheckpoint>;
  writes: Map<string, Map<string, ModelWrite>>;
  names: Map<string, { namespace: string; id: string }>;
}

const SPECIAL = new Map(Object.entries(WRITES_IDX_MAP));
const placeOf = (namespace: string, id: string) => JSON.stringify([namespace, id]);
const newestFirst = (one: ModelCheckpoint, other: ModelCheckpoint) => {
  if (one.id !== other.id) return one.id < other.id ? 1 : -1;
  return one.namespace < other.namespace ? -1 : 1;
};

/** What a saver promises, as plainly as it can be said: whole values in maps, nothing shared. */
export class SaverModel {
  readonly threads = new Map<string, ModelThread>();

  thread(name: string): ModelThread {
    const known = this.threads.get(name);
    if (known !== undefined) return known;
    const made: ModelThread = { checkpoints: new Map(), writes: new Map(), names: new Map() };
    this.threads.set(name, made);
    return made;
  }

  /** @param fresh  channels of which this put has a new version */
  put(name: string, checkpoint: ModelCheckpoint, fresh: ReadonlySet<string>): void {
    const isKept = (channel: string) => checkpoint.parent !== null || fresh.has(channel);
    const kept = Object.entries(checkpoint.values).filter(([channel]) => isKept(channel));
    const whole = structuredClone({ ...checkpoint, values: Object.fromEntries(kept) });
    this.thread(name).checkpoints.set(placeOf(checkpoint.namespace, checkpoint.id), whole);
  }

  putWrites(
    name: string,
    at: { namespace: string; id: string; task: string },
    writes: readonly [string, unknown][],
  ): void {
    const { writes: all } = this.thread(name);
    const place = placeOf(at.namespace, at.id);
    const below = all.get(place) ?? new Map<string, ModelWrite>();
    all.set(place, below);
    const isReplaced = writes.every(([channel]) => SPECIAL.has(channel));
    for (const [position, [channel, value]] of writes.entries()) {
      const index = SPECIAL.get(channel) ?? position;
      const key = JSON.stringify([at.task, index]);
      if (below.has(key) && !isReplaced) continue;
      below.set(key, structuredClone({ task: at.task, index, channel, value }));
    }
  }

  /** Returns what a tuple has to say, in the order in which a list has to yield them. */
  list(
    name: string,
    { namespace, before, limit = Number.POSITIVE_INFINITY, step }: ModelQuery = {},
  ): ModelCheckpoint[] {
    return [...(this.threads.get(name)?.checkpoints.values() ?? [])]
      .filter((each) => namespace === undefined || each.namespace === namespace)
      .filter((each) => before === undefined || each.id < before)
      .filter((each) => step === undefined || each.metadata.step === step)
      .sort(newestFirst)
      .slice(0, limit);
  }

  writesBelow(name: string, namespace: string, id: string): [string, string, unknown][] {
    const below = this.threads.get(name)?.writes.get(placeOf(namespace, id));
    return [...(below?.values() ?? [])]
      .sort((one, other) => {
        if (one.task !== other.task) return one.task < other.task ? -1 : 1;
        return one.index - other.index;
      })
      .map(({ task, channel, value }) => [task, channel, value]);
  }

  prune(name: string, rules: { keepLast: number; keepNamed: boolean; youngerThan?: string }): void {
    const thread = this.threads.get(name);
    if (thread === undefined) return;
    const all = [...thread.checkpoints.values()];
    const roots = all.filter(({ namespace }) => namespace === "").sort(newestFirst);
    const kept = new Set(roots.slice(0, rules.keepLast));
    for (const each of roots) {
      if (rules.youngerThan !== undefined && each.ts > rules.youngerThan) kept.add(each);
    }
    for (const { namespace, id } of rules.keepNamed ? thread.names.values() : []) {
      const named = thread.checkpoints.get(placeOf(namespace, id));
      if (named !== undefined) kept.add(named);
    }
    const rootIds = new Set([...kept].filter((each) => each.namespace === "").map(({ id }) => id));
    for (const each of all) {
      const root = each.metadata.parents[""];
      const isOfKept = root === undefined || rootIds.has(root);
      if (each.namespace !== "" && isOfKept) kept.add(each);
    }
    for (const each of all) if (!kept.has(each)) this.#remove(thread, each);
  }

  copy(source: string, target: string, upTo: string | null): number {
    const from = structuredClone(this.thread(source));
    if (upTo !== null) {
      const way = new Set<string>();
      for (let id: string | null = upTo; id !== null; ) {
        const each: ModelCheckpoint | undefined = from.checkpoints.get(placeOf("", id));
        if (each === undefined || way.has(id)) break;
        way.add(id);
        id = each.parent;
      }
      const isLedOn = [...from.checkpoints.values()].some((each) => {
        return each.namespace === "" && each.parent === upTo;
      });
      for (const each of [...from.checkpoints.values()]) {
        const isBelow = !isLedOn && each.metadata.parents[""] === upTo;
        const isOnWay = each.namespace === "" ? way.has(each.id) : each.id < upTo || isBelow;
        if (!isOnWay) this.#remove(from, each);
      }
      if (isLedOn) from.writes.delete(placeOf("", upTo));
    }
    // Writes that have no checkpoint yet wait for it where they were made.
    for (const place of from.writes.keys()) {
      if (!from.checkpoints.has(place)) from.writes.delete(place);
    }
    this.threads.set(target, from);
    return from.checkpoints.size;
  }

  #remove({ checkpoints, writes, names }: ModelThread, gone: ModelCheckpoint): void {
    const place = placeOf(gone.namespace, gone.id);
    checkpoints.delete(place);
    writes.delete(place);
    for (const [name, { namespace, id }] of names) {
      if (placeOf(namespace, id) === place) names.delete(name);
    }
  }
}

export interface ModelQuery {
  namespace?: string;
  before?: string;
  limit?: number;
  step?: number;
}

/** Returns a tuple in the words of the model. */
export function inWordsOfModel({ config, checkpoint, metadata, parentConfig }: CheckpointTuple) {
  return {
    namespace: config.configurable?.["checkpoint_ns"],
    id: checkpoint.id,
    parent: parentConfig?.configurable?.["checkpoint_id"] ?? null,
    ts: checkpoint.ts,
    metadata,
    values: checkpoint.channel_values,
    versions: checkpoint.channel_versions,
  };
}
