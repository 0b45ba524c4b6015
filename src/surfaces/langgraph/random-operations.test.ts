import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { INTERRUPT, RESUME } from "@langchain/langgraph-checkpoint";
import { afterAll, expect, test } from "vitest";
import { at } from "../../../test/support/saver-checkpoints.ts";
import {
  inWordsOfModel,
  type ModelCheckpoint,
  SaverModel,
} from "../../../test/support/saver-model.ts";
import { hasCode } from "../../shared/errors/index.ts";
import { WaypointSaver } from "./waypoint-saver.ts";

/** More steps find more: WAYPOINT_SAVER_STEPS=20000. A seed repeats what another run found. */
const STEPS = Number(process.env["WAYPOINT_SAVER_STEPS"] ?? 250);
const SEED = Number(process.env["WAYPOINT_SAVER_SEED"] ?? 1098844543);
const TIMEOUT_MS = 20_000 + STEPS * 100;

const THREADS = ["a", "ab", "a/b", "%", "ü\n", "x\0y"];
const NAMESPACES = ["", "", "", "child:1", "child:1|deep:2"];
const CHANNELS = ["small", "list", "text", "constructor", "bytes"];
const TASKS = ["t1", "t2", "t/3"];
const NAMES = ["green", "ü/", "last good"];
const FIRST_MS = Date.parse("2026-01-01T00:00:00.000Z");

const directory = mkdtempSync(path.join(tmpdir(), "waypoint-random-"));
afterAll(() => rmSync(directory, { recursive: true }));

class Walk {
  readonly model = new SaverModel();
  readonly #savers: readonly WaypointSaver[];
  #state: number;
  #count = 0;

  constructor(savers: readonly WaypointSaver[], seed: number) {
    this.#savers = savers;
    this.#state = seed;
  }

  async step(): Promise<void> {
    const kinds = [
      ...Array.from({ length: 9 }, () => () => this.put()),
      ...Array.from({ length: 6 }, () => () => this.putWrites()),
      ...Array.from({ length: 3 }, () => () => this.check(this.of(THREADS))),
      ...[() => this.name(), () => this.removeName(), () => this.prune(), () => this.copy()],
      () => this.query(),
      () => (this.number(4) === 0 ? this.deleteThread() : this.put()),
    ];
    await this.of(kinds)();
  }

  async put(): Promise<void> {
    const thread = this.of(THREADS);
    const namespace = this.of(NAMESPACES);
    const known = this.model.list(thread, { namespace });
    const [newest] = known;
    const parent = this.number(5) === 0 ? this.maybe(known) : newest;
    const id = this.newId(this.number(12) === 0 ? 0 : ++this.#count);
    // Put again: as a run does that was not told that it had reached the store.
    if (known.some((each) => each.id === id)) return;
    const { values, versions, fresh } = this.change(parent);
    const [root] = this.model.list(thread, { namespace: "" });
    const checkpoint: ModelCheckpoint = {
      ...{ namespace, id, values, versions, parent: parent?.id ?? null },
      ts: new Date(FIRST_MS + this.#count * 1000).toISOString(),
      metadata: {
        ...META,
        step: this.number(5),
        parents: namespace === "" || root === undefined ? {} : { "": root.id },
      },
    };
    this.model.put(thread, checkpoint, fresh);
    for (let times = this.number(8) === 0 ? 2 : 1; times > 0; times -= 1) {
      const given = this.inWordsOfLangGraph(checkpoint, fresh);
      const config = at(thread, parent?.id, namespace);
      await this.saver().put(config, given.checkpoint, given.metadata, given.newVersions);
    }
  }

  inWordsOfLangGraph(
    { id, ts, values, versions, metadata }: ModelCheckpoint,
    fresh: ReadonlySet<string>,
  ) {
    const checkpoint = {
      ...{ v: 4, id, ts, channel_values: values, channel_versions: versions },
      versions_seen: { node: versions },
    };
    const newVersions = Object.fromEntries([...fresh].map((name) => [name, versions[name] ?? 1]));
    return { checkpoint, metadata: metadata as never, newVersions };
  }

  /** Returns the parent's values with some of them changed, removed or added. */
  change(parent: ModelCheckpoint | undefined) {
    const values = structuredClone({ ...parent?.values });
    const versions = { ...parent?.versions };
    const fresh = new Set<string>();
    for (const channel of CHANNELS) {
      if (this.number(2) === 0) continue;
      const known = Object.hasOwn(versions, channel) ? versions[channel] : 0;
      versions[channel] = (known ?? 0) + 1;
      fresh.add(channel);
      if (this.number(10) === 0) delete values[channel];
      else values[channel] = this.value(Object.hasOwn(values, channel) ? values[channel] : null);
    }
    return { values, versions, fresh };
  }

  async putWrites(): Promise<void> {
    const thread = this.of(THREADS);
    const namespace = this.of(NAMESPACES);
    const known = this.model.list(thread, { namespace }).slice(0, 3);
    // Below one that is not there yet, now and then.
    const id = this.maybe(known)?.id ?? this.newId(this.#count + 1);
    const task = this.of(TASKS);
    const writes: [string, unknown][] =
      this.number(4) === 0
        ? [[this.of([INTERRUPT, RESUME]), this.number(100)]]
        : Array.from({ length: 1 + this.number(3) }, () => [this.of(CHANNELS), this.value(null)]);
    this.model.putWrites(thread, { namespace, id, task }, writes);
    await this.saver().putWrites(at(thread, id, namespace), writes, task);
  }

  async name(): Promise<void> {
    const thread = this.of(THREADS);
    const [name, one] = [this.of(NAMES), this.maybe(this.model.list(thread))];
    if (one === undefined) return;
    this.model.thread(thread).names.set(name, { namespace: one.namespace, id: one.id });
    await this.saver().nameCheckpoint(at(thread, one.id, one.namespace), name);
  }

  async removeName(): Promise<void> {
    const [thread, name] = [this.of(THREADS), this.of(NAMES)];
    this.model.threads.get(thread)?.names.delete(name);
    await this.saver().removeName(thread, name);
  }

  async prune(): Promise<void> {
    const thread = this.of(THREADS);
    const rules = { keepLast: 1 + this.number(4), keepNamed: this.number(3) > 0 };
    const ageMs = this.number(2) === 0 ? null : 1 + this.number(this.#count * 1000);
    const youngest = FIRST_MS + this.#count * 1000;
    const before = this.model.list(thread).length;
    this.model.prune(thread, {
      ...rules,
      ...(ageMs === null ? {} : { youngerThan: new Date(youngest - ageMs).toISOString() }),
    });
    const keepYoungerThanMs = ageMs === null ? null : Date.now() - youngest + ageMs;
    const pruned = await this.saver().prune({
      ...{ ...rules, threads: [thread] },
      ...(keepYoungerThanMs === null ? {} : { keepYoungerThanMs }),
    });
    expect(pruned.checkpoints).toBe(before - this.model.list(thread).length);
  }

  async copy(): Promise<void> {
    const [source, target] = [this.of(THREADS), this.of(THREADS)];
    if (source !== target && this.number(2) === 0) await this.deleteThread(target);
    const roots = this.model.list(source, { namespace: "" });
    const upTo = this.number(2) === 0 ? null : (this.maybe(roots)?.id ?? null);
    const copied = await this.saver()
      .copyThread(source, target, { upTo })
      .catch((error: unknown) => {
        if (hasCode(error, "THREAD_EXISTS")) return "THREAD_EXISTS";
        return hasCode(error, "CHECKPOINT_NOT_FOUND") ? "CHECKPOINT_NOT_FOUND" : error;
      });
    if (this.model.list(target).length > 0) expect(copied).toBe("THREAD_EXISTS");
    else if (this.model.list(source).length === 0) expect(copied).toBe("CHECKPOINT_NOT_FOUND");
    else {
      // Writes without a checkpoint are no thread: the copy comes beside them.
      const orphans = this.model.thread(target).writes;
      expect(copied).toBe(this.model.copy(source, target, upTo));
      const { writes } = this.model.thread(target);
      for (const [place, below] of orphans) if (!writes.has(place)) writes.set(place, below);
    }
  }

  async deleteThread(thread = this.of(THREADS)): Promise<void> {
    this.model.threads.delete(thread);
    await this.saver().deleteThread(thread);
  }

  async query(): Promise<void> {
    const thread = this.of(THREADS);
    const before = this.maybe(this.model.list(thread))?.id;
    const asked = {
      ...(this.number(2) === 0 ? {} : { namespace: this.of(NAMESPACES) }),
      ...(before === undefined ? {} : { before }),
      ...(this.number(2) === 0 ? {} : { limit: this.number(4) }),
      ...(this.number(2) === 0 ? {} : { step: this.number(5) }),
    };
    const { namespace, step, limit } = asked;
    const configurable = {
      thread_id: thread,
      ...(namespace === undefined ? {} : { checkpoint_ns: namespace }),
    };
    const options = {
      ...(before === undefined ? {} : { before: at(thread, before) }),
      ...(limit === undefined ? {} : { limit }),
      ...(step === undefined ? {} : { filter: { step } }),
    };
    const found = await all(this.saver().list({ configurable }, options));
    expect(found.map(inWordsOfModel)).toEqual(this.model.list(thread, asked));
  }

  /** Compares all of a thread with the model. */
  async check(thread: string): Promise<void> {
    const saver = this.saver();
    const expected = this.model.list(thread);
    const listed = await all(saver.list({ configurable: { thread_id: thread } }));
    expect(listed.map(inWordsOfModel)).toEqual(expected);
    for (const { namespace, id } of expected) {
      const tuple = await saver.getTuple(at(thread, id, namespace));
      expect(tuple?.pendingWrites).toEqual(this.model.writesBelow(thread, namespace, id));
    }
    for (const namespace of NAMESPACES) {
      const newest = await saver.getTuple(at(thread, undefined, namespace));
      expect(newest?.checkpoint.id).toBe(this.model.list(thread, { namespace })[0]?.id);
    }
    const names = [...(await saver.namedCheckpoints(thread))].map(([name, config]) => {
      return [name, config.configurable?.["checkpoint_id"]];
    });
    const known = this.model.threads.get(thread)?.names ?? new Map<string, { id: string }>();
    expect(new Map(names as [string, string][])).toEqual(
      new Map([...known].map(([name, { id }]) => [name, id])),
    );
  }

  saver(): WaypointSaver {
    return this.of(this.#savers);
  }

  value(known: unknown): unknown {
    const list = Array.isArray(known) ? known : [];
    const more = { role: "user", content: `${this.number(1000)} `.repeat(this.number(300)) };
    return this.of([
      () => this.number(1000),
      () => [...list, more],
      () => `${this.number(5)} `.repeat(this.number(20_000)),
      () => new Uint8Array(this.number(9000)).fill(this.number(256)),
      () => ({ deep: { map: new Map([[this.number(3), new Set(["\ud800", "\0"])]]) } }),
      () => null,
    ])();
  }

  /** Returns an id by which a checkpoint sorts; 0 stands for one that is older than all. */
  newId(count: number): string {
    const hex = String(count === 0 ? this.number(50) : 1000 + count).padStart(8, "0");
    return `1ef${hex.slice(0, 5)}-${hex.slice(4)}-6000-8000-000000000000`;
  }

  /** Mulberry32. */
  number(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(1, below);
  }

  of<T>(all: readonly T[]): T {
    return all[this.number(all.length)] as T;
  }

  maybe<T>(all: readonly T[]): T | undefined {
    return this.number(6) === 0 ? undefined : all[this.number(all.length)];
  }
}

async function all<T>(found: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const each of found) list.push(each);
  return list;
}

const META = { source: "loop" as const };

test.each([
  ["one saver in memory", "memory:", 1, {}],
  ["one saver, encrypted", "memory:", 1, { encryption: { key: new Uint8Array(32).fill(5) } }],
  ["two savers on a file", "sqlite:", 2, {}],
] as const)(
  "random operations on %s do what a plain model does",
  async (_, kind, count, options) => {
    const address = kind === "memory:" ? kind : `${kind}${path.join(directory, "walk.sqlite")}`;
    const savers = [];
    for (let at = 0; at < count; at += 1) savers.push(await WaypointSaver.open(address, options));
    const walk = new Walk(savers, SEED);
    try {
      for (let step = 0; step < STEPS; step += 1) await walk.step();
      for (const thread of THREADS) await walk.check(thread);
    } catch (error) {
      throw new Error(`WAYPOINT_SAVER_SEED=${SEED} finds this again`, { cause: error });
    } finally {
      for (const saver of savers) await saver[Symbol.asyncDispose]();
    }
  },
  TIMEOUT_MS,
);
