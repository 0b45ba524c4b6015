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
import { TEXTS_TYPE, textEnds } from "./long-texts.ts";
import { RecentValues } from "./recent-values.ts";
import { objectKey } from "./record-keys.ts";
import { SafeSerializer } from "./safe-serializer.ts";
import { damaged, type Seal } from "./seal.ts";
import {
  endOf,
  inlineBytes,
  isStored,
  itemsOf,
  type StoredValue,
  VALUE_BYTES_MAX,
} from "./stored-value.ts";

/** A value that is to be kept. */
export interface EncodedValue {
  stored: StoredValue;
  /** The objects that it needs, by their ids. */
  objects: ReadonlyMap<string, Uint8Array>;
}

/** Up to so many bytes a value stands where it is mentioned. */
const INLINE_BYTES_MAX = 256;
/** Up to here a text's parts, and those of other values, are small. */
const FINE_TEXT_BYTES_MAX = 16 * 1024;
const FINE_JSON_BYTES_MAX = 512 * 1024;
/** Where so much of a long value does not become shorter, nothing of it is compressed. */
const SAMPLE_BYTES = 4 * 1024;
/** Up to so many ids stand where the value is mentioned. */
const INLINE_IDS_MAX = 6;
/** What is read at once: a record may name the same parts again and again. */
const READ_BYTES_MAX = 2 * 1024 * 1024 * 1024;
const TYPE_CHARS_SHOWN = 20;

/** Values as a serializer makes bytes of them, in objects named by their content. */
export class ValueStore {
  readonly #serializer: SerializerProtocol;
  readonly #seal: Seal;
  readonly #isSafe: boolean;
  readonly #recent = new RecentValues();

  constructor(serializer: SerializerProtocol, seal: Seal) {
    this.#serializer = serializer;
    this.#isSafe = serializer instanceof SafeSerializer;
    this.#seal = seal;
  }

  async encode(value: unknown): Promise<EncodedValue> {
    const [type, bytes] = await this.#serializer.dumpsTyped(value);
    // What it made of a value nobody else has; bytes it hands on as they are.
    const isOwn = this.#isSafe && type !== "bytes";
    return this.encodeBytes(type, isOwn ? bytes : Uint8Array.from(bytes));
  }

  /**
   * The same bytes always become the same objects: whoever puts a checkpoint again does not take
   * from it what another program relies on.
   *
   * @param bytes  not changed by anybody from now on
   * @throws USAGE_INVALID  it is too large.
   */
  encodeBytes(type: string, bytes: Uint8Array): EncodedValue {
    if (bytes.length > VALUE_BYTES_MAX) {
      throw new WaypointError("USAGE_INVALID", "A value of the graph is too large to be kept.", {
        hint: "Keep large data elsewhere, and its place in the graph's state.",
        detail: { bytes: bytes.length, bytesMax: VALUE_BYTES_MAX },
      });
    }
    if (bytes.length <= INLINE_BYTES_MAX) return inline(type, bytes);
    const known = this.#recent.get(type, bytes);
    return known ?? this.#recent.add(type, bytes, this.#encodeParts(type, bytes));
  }

  #encodeParts(type: string, bytes: Uint8Array): EncodedValue {
    const objects = new CollectedObjects(this.#seal);
    // A text that stands in several values is the same parts in each.
    const ends = this.#isSafe && type === TEXTS_TYPE ? textEnds(bytes) : [];
    const parts = [0, ...ends].flatMap((start, index) => {
      const piece = bytes.subarray(start, ends[index]);
      const isText = index < ends.length || type === "bytes";
      return [...splitBytes(piece, sizesFor(piece.length, isText))];
    });
    // What names the texts of a short value is short: not worth a record.
    const isEndShort = parts.length > 1 && (parts.at(-1)?.length ?? 0) <= INLINE_BYTES_MAX;
    const end = isEndShort ? parts.pop() : undefined;
    const at = storedParts(
      parts.map((part) => objects.put(part)),
      objects,
    );
    const stored = {
      ...{ t: type, ...at },
      ...(end === undefined ? {} : { e: Buffer.from(end).toString("base64") }),
    };
    return { stored, objects: objects.all };
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
    // The beginning of a long value tells of all of it.
    let isShorter: boolean | undefined;
    for (const [id, content] of objects) {
      if (known(id)) continue;
      const made = closed(id);
      if (made !== undefined) {
        changes.push(made);
        continue;
      }
      const key = objectKey(id);
      if (content.length > SAMPLE_BYTES) {
        isShorter ??= this.#seal.shortens(content.subarray(0, SAMPLE_BYTES));
      }
      const value = this.#seal.closeContent(content, key, isShorter);
      changes.push({ key, value, mode: "content" });
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
      buffers.push(endOf(each));
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

/** Few bytes stand where the value is mentioned, as text where they are text. */
function inline(type: string, bytes: Uint8Array): EncodedValue {
  const text = Buffer.from(bytes);
  const here = type === "json" ? { v: text.toString() } : { b: text.toString("base64") };
  return { stored: { t: type, ...here }, objects: new Map() };
}

function storedParts(ids: readonly string[], objects: ObjectStore) {
  if (ids.length <= INLINE_IDS_MAX) return { o: ids };
  const items = ids.map((id) => JSON.stringify(id));
  const { root, height } = writeSequence(objects, items);
  return { s: [root, height] as const };
}

/** A list grows at its end, by less than a small part; a text is mostly written anew. */
function sizesFor(bytes: number, isText: boolean): PartSizes {
  return bytes <= (isText ? FINE_TEXT_BYTES_MAX : FINE_JSON_BYTES_MAX) ? FINE_PARTS : COARSE_PARTS;
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
