import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import {
  COARSE_PARTS,
  FINE_PARTS,
  type ObjectStore,
  type PartSizes,
  splitBytes,
  writeSequence,
} from "../../portable/objects/index.ts";
import type { Change, ThreadRecords } from "../../portable/records/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { objectKey } from "./record-keys.ts";
import { damaged, type Seal } from "./seal.ts";

/**
 * Where a value lies: the serializer's type, and its bytes. Few stand here, as text or in base64;
 * else in objects: their ids, or the root and height of the tree that has them.
 */
export type StoredValue = { t: string } & (
  | { v: string }
  | { b: string }
  | { o: readonly string[] }
  | { s: readonly [root: string, height: number] }
);

/** A value that is to be kept. */
export interface EncodedValue {
  stored: StoredValue;
  /** The objects that it needs, by their ids. */
  objects: ReadonlyMap<string, Uint8Array>;
}

/** Up to so many bytes a value stands where it is mentioned. */
const INLINE_BYTES_MAX = 256;
/** Up to here the parts of every value are small; ... */
const FINE_VALUE_BYTES_MAX = 16 * 1024;
/** ... and up to here those of one that grows: a conversation grows by less than a small one. */
const FINE_GROWN_BYTES_MAX = 512 * 1024;
/** So much of a value is compressed in any case, the rest if that has become shorter by a third. */
const SAMPLE_BYTES = 8 * 1024;
const WORTHWHILE = 0.67;
/** Up to so many ids stand where the value is mentioned. */
const INLINE_IDS_MAX = 6;
/** A longer one is refused; V8 has no longer texts. */
export const VALUE_BYTES_MAX = 512 * 1024 * 1024;
/** What is read at once: a record may name the same parts again and again. */
const READ_BYTES_MAX = 2 * 1024 * 1024 * 1024;
const PARTS_MAX = 2 * (VALUE_BYTES_MAX / FINE_PARTS.bytesMin);
/** Each level of a tree is at least ten times as wide as the one above. */
const HEIGHT_MAX = 8;
const TYPE_CHARS_SHOWN = 20;

/** Values as a serializer makes bytes of them, in objects named by their content. */
export class ValueStore {
  readonly #serializer: SerializerProtocol;
  readonly #seal: Seal;

  constructor(serializer: SerializerProtocol, seal: Seal) {
    this.#serializer = serializer;
    this.#seal = seal;
  }

  /** @param before  the ids of the objects that the value before it has, as far as they are known */
  async encode(value: unknown, before?: ReadonlySet<string>): Promise<EncodedValue> {
    const [type, bytes] = await this.#serializer.dumpsTyped(value);
    return this.encodeBytes(type, bytes, before);
  }

  /** @throws USAGE_INVALID  it is too large. */
  encodeBytes(type: string, bytes: Uint8Array, before?: ReadonlySet<string>): EncodedValue {
    if (bytes.length > VALUE_BYTES_MAX) {
      throw new WaypointError("USAGE_INVALID", "A value of the graph is too large to be kept.", {
        hint: "Keep large data elsewhere, and its place in the graph's state.",
        detail: { bytes: bytes.length, bytesMax: VALUE_BYTES_MAX },
      });
    }
    if (bytes.length <= INLINE_BYTES_MAX) {
      const text = Buffer.from(bytes);
      const isText = type === "json";
      const inline = isText ? { v: text.toString() } : { b: text.toString("base64") };
      return { stored: { t: type, ...inline }, objects: new Map() };
    }
    const objects = new CollectedObjects(this.#seal);
    const sizes = this.#sizesFor(bytes, before);
    const ids = [...splitBytes(bytes, sizes)].map((part) => objects.put(part));
    if (ids.length <= INLINE_IDS_MAX) return { stored: { t: type, o: ids }, objects: objects.all };
    const items = ids.map((id) => JSON.stringify(id));
    const { root, height } = writeSequence(objects, items);
    return { stored: { t: type, s: [root, height] }, objects: objects.all };
  }

  /** A value that begins as the one before it grows, and is kept in small parts from then on. */
  #sizesFor(bytes: Uint8Array, before: ReadonlySet<string> | undefined): PartSizes {
    if (bytes.length <= FINE_VALUE_BYTES_MAX) return FINE_PARTS;
    if (bytes.length > FINE_GROWN_BYTES_MAX || before === undefined) return COARSE_PARTS;
    const begins = (sizes: PartSizes) => {
      const [first] = splitBytes(bytes, sizes);
      return first !== undefined && before.has(this.#seal.idOf(first));
    };
    return begins(FINE_PARTS) || begins(COARSE_PARTS) ? FINE_PARTS : COARSE_PARTS;
  }

  /**
   * Returns what keeps objects that are not known to be there.
   *
   * @param closed  what keeps an object, where that was made already
   */
  changesOf(
    objects: ReadonlyMap<string, Uint8Array>,
    known: (id: string) => boolean = () => false,
    closed: (id: string) => Change | undefined = () => undefined,
  ): Change[] {
    const changes: Change[] = [];
    let [contentBytes, keptBytes] = [0, 0];
    for (const [id, content] of objects) {
      if (known(id)) continue;
      const made = closed(id);
      if (made !== undefined) {
        changes.push(made);
        continue;
      }
      const key = objectKey(id);
      // The first parts of a long value tell of the others.
      const isWorthwhile = contentBytes < SAMPLE_BYTES || keptBytes < contentBytes * WORTHWHILE;
      const value = this.#seal.closeContent(content, key, isWorthwhile);
      changes.push({ key, value, mode: "content" });
      contentBytes += content.length;
      keptBytes += value.length;
    }
    return changes;
  }

  /**
   * Reads values, all of them with one question for each level of the deepest.
   *
   * @throws STORE_FAILED  an object is missing or damaged.
   */
  async readAll(
    records: ThreadRecords,
    thread: string,
    stored: readonly StoredValue[],
  ): Promise<unknown[]> {
    const bytes = await this.readBytes(records, thread, stored);
    const load = async (each: StoredValue, index: number): Promise<unknown> => {
      try {
        return await this.#serializer.loadsTyped(each.t, bytes[index] as Buffer);
      } catch (cause) {
        throw damaged(`of a value (${String(each.t).slice(0, TYPE_CHARS_SHOWN)})`, cause);
      }
    };
    return await Promise.all(stored.map(load));
  }

  /** As {@link readAll}, but the bytes of the serializer. */
  async readBytes(
    records: ThreadRecords,
    thread: string,
    stored: readonly StoredValue[],
  ): Promise<Buffer[]> {
    const ids = await this.#partsOf(records, thread, stored);
    const parts = await this.#objects(records, thread, new Set(ids.flat()));
    let left = READ_BYTES_MAX;
    return stored.map((each, index) => {
      const inline = inlineBytes(each);
      if (inline !== null) return inline;
      const buffers = (ids[index] ?? []).map((id) => parts.get(id) as Buffer);
      const bytes = buffers.reduce((sum, { length }) => sum + length, 0);
      left -= bytes;
      if (bytes > VALUE_BYTES_MAX || left < 0) throw damaged("of a value");
      return Buffer.concat(buffers, bytes);
    });
  }

  /** Adds the ids of all objects that values need, nodes of trees too, to `found`. */
  async collectIds(
    records: ThreadRecords,
    thread: string,
    stored: readonly StoredValue[],
    found: Set<string>,
  ): Promise<void> {
    const ids = await this.#partsOf(records, thread, stored, (node) => found.add(node));
    for (const id of ids.flat()) found.add(id);
  }

  /** Returns for each value the ids of its parts, going down the trees side by side. */
  async #partsOf(
    records: ThreadRecords,
    thread: string,
    stored: readonly StoredValue[],
    onNode: (id: string) => void = () => {},
  ): Promise<string[][]> {
    if (!stored.every(isStored)) throw damaged("of a value");
    const levels = stored.map((each) => ({
      ids: "o" in each ? [...each.o] : "s" in each ? [each.s[0]] : [],
      height: "s" in each ? each.s[1] + 1 : 0,
    }));
    for (;;) {
      const deep = levels.filter(({ height }) => height > 0);
      if (deep.length === 0) return levels.map(({ ids }) => ids);
      const nodes = new Set(deep.flatMap(({ ids }) => ids));
      for (const id of nodes) onNode(id);
      const contents = await this.#objects(records, thread, nodes);
      for (const level of deep) {
        level.ids = itemsOf(level.ids.map((id) => contents.get(id) as Buffer));
        level.height -= 1;
      }
    }
  }

  async #objects(
    records: ThreadRecords,
    thread: string,
    ids: ReadonlySet<string>,
  ): Promise<Map<string, Buffer>> {
    const contents = new Map<string, Buffer>();
    if (ids.size === 0) return contents;
    let left = READ_BYTES_MAX;
    const found = await records.read(
      thread,
      [...ids].map((id) => objectKey(id)),
    );
    for (const id of ids) {
      const key = objectKey(id);
      const kept = found.get(key);
      if (kept === undefined) throw damaged(key);
      const content = this.#seal.openContent(kept, key, id);
      left -= content.length;
      if (left < 0) throw damaged(key);
      contents.set(id, content);
    }
    return contents;
  }
}

class CollectedObjects implements ObjectStore {
  readonly all = new Map<string, Uint8Array>();
  readonly #seal: Seal;

  constructor(seal: Seal) {
    this.#seal = seal;
  }

  put(bytes: Uint8Array): string {
    const id = this.#seal.idOf(bytes);
    this.all.set(id, bytes);
    return id;
  }

  get(id: string): Uint8Array | undefined {
    return this.all.get(id);
  }
}

function inlineBytes(stored: StoredValue): Buffer | null {
  if ("v" in stored) return Buffer.from(stored.v);
  return "b" in stored ? Buffer.from(stored.b, "base64") : null;
}

/** A node's items are JSON texts, a line each. */
function itemsOf(nodes: readonly Buffer[]): string[] {
  const items: string[] = [];
  for (const node of nodes) {
    for (const line of node.toString().split("\n").slice(0, -1)) items.push(idIn(line));
    if (items.length > PARTS_MAX) throw damaged("of a value");
  }
  return items;
}

function idIn(line: string): string {
  const [, id] = /^"([\w-]+)"$/.exec(line) ?? [];
  if (id === undefined) throw damaged("of a value");
  return id;
}

/** Tells whether a record says where a value lies in one of the ways that there are. */
export function isStored(stored: unknown): stored is StoredValue {
  if (typeof stored !== "object" || stored === null) return false;
  if (!("t" in stored) || typeof stored.t !== "string") return false;
  if ("v" in stored) return typeof stored.v === "string";
  if ("b" in stored) return typeof stored.b === "string";
  if ("o" in stored) return Array.isArray(stored.o) && stored.o.every(isId);
  if (!("s" in stored) || !Array.isArray(stored.s)) return false;
  const [root, height] = stored.s as unknown[];
  return (
    isId(root) && Number.isInteger(height) && Number(height) >= 0 && Number(height) <= HEIGHT_MAX
  );
}

function isId(value: unknown): boolean {
  return typeof value === "string";
}
