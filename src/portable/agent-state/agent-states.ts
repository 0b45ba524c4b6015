import { WaypointError } from "../../shared/errors/index.ts";
import {
  appendItems,
  type JsonValue,
  type KeptObjects,
  type ObjectId,
  objectIdOf,
  objectsOf,
  readValue,
  type StoredValue,
  storeValue,
} from "../objects/index.ts";
import type { StateSchema } from "./migrate.ts";
import { parseTasks, TASKS_KEY, type Task } from "./tasks.ts";

/** Keys of one state. */
const KEYS_MAX = 1000;
/** What is kept under one key, as JSON text. */
export const VALUE_BYTES_MAX = 64 * 1024 * 1024;

/** A key of a state, without its value. */
export interface StateKey {
  key: string;
  /** Who reads the value, and in which form it is; `null` where nobody said it. */
  schema: StateSchema | null;
  /** Length of its JSON text. */
  bytes: number;
  /** How many items it has; `null` where it is no list. */
  items: number | null;
}

/** What is to be changed; a key is named once. */
export interface StateChange {
  set: Readonly<Record<string, { value: unknown; schema?: StateSchema | null | undefined }>>;
  /** Items for the ends of lists; a list that is not there yet begins with them. */
  append: Readonly<Record<string, readonly unknown[]>>;
  remove: readonly string[];
}

/** Where a whole state lies; `null` for one without keys. */
export type StateRoot = StoredValue | null;

interface Entry extends Omit<StateKey, "key"> {
  stored: StoredValue;
}

/**
 * States of agents, kept by content: each change makes a new state, and the old one stays readable.
 *
 * The objects are opened when the first of them is needed: who has no agents has no file.
 */
export class AgentStates implements Disposable {
  readonly #open: () => KeptObjects;
  readonly #redact: (value: JsonValue) => JsonValue;
  #objects: KeptObjects | undefined;

  /** @param redact  what is to be kept of a value: without its secrets */
  constructor(open: () => KeptObjects, redact: (value: JsonValue) => JsonValue) {
    this.#open = open;
    this.#redact = redact;
  }

  [Symbol.dispose](): void {
    this.#objects?.[Symbol.dispose]();
    this.#objects = undefined;
  }

  /** Returns what names a state's content: two states are the same if, and only if, these are. */
  versionOf(root: StateRoot): string | null {
    return root === null ? null : objectIdOf(Buffer.from(root));
  }

  keysOf(root: StateRoot): StateKey[] {
    return [...this.#entries(root)].map(([key, { stored: _, ...entry }]) => ({ key, ...entry }));
  }

  /** @throws STATE_KEY_NOT_FOUND */
  read(root: StateRoot, key: string): StateKey & { value: JsonValue } {
    const entry = this.#entries(root).get(key);
    if (entry === undefined) throw keyNotFound(key, this.keysOf(root));
    const { stored, ...facts } = entry;
    return { key, ...facts, value: readValue(this.#kept, stored) };
  }

  /** Returns which keys differ between two states, each as it is in both; `null` where it is not. */
  changedKeys(now: StateRoot, restored: StateRoot) {
    const [one, other] = [this.#entries(now), this.#entries(restored)];
    const facts = (key: string, entry: Entry | undefined): StateKey | null => {
      if (entry === undefined) return null;
      const { stored: _, ...shown } = entry;
      return { key, ...shown };
    };
    return [...new Set([...one.keys(), ...other.keys()])]
      .filter((key) => JSON.stringify(one.get(key)) !== JSON.stringify(other.get(key)))
      .map((key) => ({ key, now: facts(key, one.get(key)), restored: facts(key, other.get(key)) }));
  }

  /** Returns the tasks of a state, which {@link changed} has checked. */
  tasksOf(root: StateRoot): Task[] {
    return this.#tasksIn(this.#entries(root));
  }

  /**
   * Returns the state that a change makes of another one, when it has reached the disk.
   *
   * @throws USAGE_INVALID  it is no JSON, no task list, a key is named twice, or items are appended to
   * what is no list.
   * @throws STATE_TOO_LARGE | STORE_FULL
   */
  change(root: StateRoot, change: StateChange): StateRoot {
    requireOnce(change);
    return this.#kept.transaction(() => {
      const entries = this.#entries(root);
      for (const key of change.remove) entries.delete(key);
      for (const [key, { value, schema = null }] of Object.entries(change.set)) {
        entries.set(key, this.#entryOf(key === TASKS_KEY ? parseTasks(value) : value, schema));
      }
      for (const [key, items] of Object.entries(change.append)) {
        const isTasks = key === TASKS_KEY;
        const tasks = () => parseTasks([...this.#tasksIn(entries), ...items]);
        const entry = isTasks
          ? this.#entryOf(tasks(), null)
          : this.#appended(key, entries.get(key), items);
        entries.set(key, entry);
      }
      return this.#rootOf(entries);
    });
  }

  /** Removes what none of these states needs, and returns how many objects went. */
  keepOnly(roots: Iterable<string>): number {
    const needed = new Set<ObjectId>();
    for (const root of new Set(roots)) {
      for (const id of objectsOf(this.#kept, root)) needed.add(id);
      for (const { stored } of this.#entries(root).values()) {
        for (const id of objectsOf(this.#kept, stored)) needed.add(id);
      }
    }
    return this.#kept.keepOnly(needed);
  }

  #entries(root: StateRoot): Map<string, Entry> {
    if (root === null) return new Map();
    return new Map(readValue(this.#kept, root) as unknown as [string, Entry][]);
  }

  #tasksIn(entries: ReadonlyMap<string, Entry>): Task[] {
    const stored = entries.get(TASKS_KEY)?.stored;
    return stored === undefined ? [] : (readValue(this.#kept, stored) as unknown as Task[]);
  }

  #rootOf(entries: ReadonlyMap<string, Entry>): StateRoot {
    if (entries.size === 0) return null;
    if (entries.size > KEYS_MAX) throw tooLarge(`A state has at most ${KEYS_MAX} keys.`);
    const sorted = [...entries].sort(([one], [other]) => (one < other ? -1 : 1));
    return storeValue(this.#kept, sorted as unknown as JsonValue);
  }

  #entryOf(given: unknown, schema: StateSchema | null): Entry {
    const value = asInvalid(() => this.#redact(given as JsonValue));
    const bytes = requireSize(bytesOf(value));
    const items = Array.isArray(value) ? value.length : null;
    return { schema, bytes, items, stored: asInvalid(() => storeValue(this.#kept, value)) };
  }

  #appended(key: string, entry: Entry | undefined, given: readonly unknown[]): Entry {
    if (entry === undefined) return this.#entryOf(given, null);
    if (entry.items === null) {
      throw invalid(`What is kept under "${key}" is no list: items cannot be appended to it.`);
    }
    const items = asInvalid(() => this.#redact(given as JsonValue)) as readonly JsonValue[];
    // Both texts have brackets; where both have items a comma stands between them.
    const joint = entry.items > 0 && items.length > 0 ? 1 : 0;
    const bytes = requireSize(entry.bytes + bytesOf(items) - 2 + joint);
    const stored = asInvalid(() => appendItems(this.#kept, entry.stored, items));
    return { schema: entry.schema, bytes, items: entry.items + items.length, stored };
  }

  get #kept(): KeptObjects {
    this.#objects ??= this.#open();
    return this.#objects;
  }
}

function bytesOf(value: JsonValue): number {
  return asInvalid(() => Buffer.byteLength(JSON.stringify(value) ?? ""));
}

function requireSize(bytes: number): number {
  if (bytes <= VALUE_BYTES_MAX) return bytes;
  const mebibytes = (bytes / 1024 ** 2).toFixed(1);
  throw tooLarge(`The value has ${mebibytes} MiB, and a key takes ${VALUE_BYTES_MAX / 1024 ** 2}.`);
}

function requireOnce({ set, append, remove }: StateChange): void {
  const named = [...Object.keys(set), ...Object.keys(append), ...remove];
  const twice = named.find((key, at) => named.indexOf(key) < at);
  if (twice !== undefined) throw invalid(`Key "${twice}" is to be changed twice at once.`);
}

/** What cannot be kept as JSON is nested too deep, or in a circle. */
function asInvalid<T>(keep: () => T): T {
  try {
    return keep();
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) {
      throw new WaypointError("USAGE_INVALID", "A value cannot be kept as JSON.", { cause: error });
    }
    throw error;
  }
}

function keyNotFound(key: string, keys: readonly StateKey[]): WaypointError {
  const there = keys.slice(0, 10).map((each) => each.key);
  return new WaypointError("STATE_KEY_NOT_FOUND", `The state has no key "${key}".`, {
    hint: there.length === 0 ? "It has no keys at all." : `It has ${there.join(", ")}.`,
    detail: { key },
  });
}

function invalid(message: string): WaypointError {
  return new WaypointError("USAGE_INVALID", message);
}

function tooLarge(message: string): WaypointError {
  return new WaypointError("STATE_TOO_LARGE", message, {
    hint: "Keep what is large in files of the session: they are captured, too.",
  });
}
