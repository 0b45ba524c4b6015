import { WaypointError } from "../../shared/errors/index.ts";
import type { ObjectId, ObjectStore } from "./object-store.ts";
import { listOf } from "./read-value.ts";
import { appendToSequence, type Sequence, writeSequence } from "./sequence.ts";
import { splitBytes } from "./split-text.ts";

/** A value as JSON has it. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/**
 * Where a value lies, as a JSON text: the value itself where it is small, else what leads to it.
 *
 * Equal values have equal texts, whichever way they came to be.
 */
export type StoredValue = string;

/** Up to this length a value stands where it is mentioned. */
const INLINE_CHARS_MAX = 512;
/** Up to this length a list or a map is one object. */
const WHOLE_CHARS_MAX = 2048;
/** Up to this length a text is one object: most messages are. */
const WHOLE_TEXT_CHARS_MAX = 16 * 1024;
/** Deeper is no data that a program reads, but one that makes it fall. */
const DEPTH_MAX = 200;

/**
 * Keeps a value of JSON in objects.
 *
 * Long lists, maps and texts are trees of objects: what was kept before is not kept again.
 *
 * @throws USAGE_INVALID  it is no value of JSON, or nested more than 200 deep.
 */
export function storeValue(objects: ObjectStore, value: JsonValue): StoredValue {
  return prepare(objects, value, 0).store();
}

/**
 * Returns a list with further items at its end, in time and room that the items need, not the list.
 *
 * @throws USAGE_INVALID  what is there is no list.
 */
export function appendItems(
  objects: ObjectStore,
  stored: StoredValue,
  items: readonly JsonValue[],
): StoredValue {
  const { l } = JSON.parse(stored) as { l?: [ObjectId, number] };
  if (l === undefined) return storeValue(objects, [...listOf(objects, stored), ...items]);
  if (items.length === 0) return stored;
  const added = items.map((item) => prepare(objects, item, 1).store());
  return sequenceText("l", appendToSequence(objects, { root: l[0], height: l[1] }, added));
}

/** A value before it is known whether it becomes an object of its own. */
interface Prepared {
  /** The value's JSON text; null where it is too long to stand in another. */
  raw: string | null;
  store(): StoredValue;
}

function prepare(objects: ObjectStore, value: JsonValue, depth: number): Prepared {
  if (depth > DEPTH_MAX) throw invalid(`It is nested more than ${DEPTH_MAX} deep.`);
  if (typeof value === "string") return prepareText(objects, JSON.stringify(value));
  if (value === null || typeof value === "boolean" || Number.isFinite(value)) {
    return whole(objects, JSON.stringify(value));
  }
  if (typeof value !== "object") throw invalid(`It has ${String(value)} in it.`);
  return Array.isArray(value)
    ? prepareList(objects, value, depth)
    : prepareMap(objects, value as { [key: string]: JsonValue }, depth);
}

function prepareText(objects: ObjectStore, raw: string): Prepared {
  if (raw.length <= WHOLE_TEXT_CHARS_MAX) return whole(objects, raw);
  const store = () => {
    const ids = [...splitBytes(Buffer.from(raw))].map((part) => JSON.stringify(objects.put(part)));
    return sequenceText("t", writeSequence(objects, ids));
  };
  return { raw: null, store };
}

function prepareList(objects: ObjectStore, list: readonly JsonValue[], depth: number): Prepared {
  const items = list.map((item) => prepare(objects, item, depth + 1));
  const raw = joinRaw(items.map((item) => item.raw));
  if (raw !== null) return whole(objects, `[${raw}]`);
  return {
    raw: null,
    store: () =>
      storeItems(
        objects,
        "l",
        items.map((item) => item.store()),
      ),
  };
}

function prepareMap(
  objects: ObjectStore,
  map: { readonly [key: string]: JsonValue },
  depth: number,
): Prepared {
  const entries = Object.entries(map).map(([key, value]) => ({
    key: JSON.stringify(key),
    value: prepare(objects, value, depth + 1),
  }));
  const raw = joinRaw(
    entries.map(({ key, value }) => (value.raw === null ? null : `${key}:${value.raw}`)),
  );
  if (raw !== null) return whole(objects, `{${raw}}`);
  const store = () => {
    const items = entries.map(({ key, value }) => `[${key},${value.store()}]`);
    return storeItems(objects, "m", items);
  };
  return { raw: null, store };
}

/** Returns the texts joined; null where one is missing or they are too long for one object. */
function joinRaw(texts: readonly (string | null)[]): string | null {
  let chars = 0;
  for (const text of texts) {
    if (text === null) return null;
    chars += text.length + 1;
    if (chars > WHOLE_CHARS_MAX) return null;
  }
  return texts.join(",");
}

function whole(objects: ObjectStore, raw: string): Prepared {
  const store = () =>
    raw.length <= INLINE_CHARS_MAX
      ? `{"v":${raw}}`
      : `{"j":${JSON.stringify(objects.put(Buffer.from(raw)))}}`;
  return { raw: raw.length <= WHOLE_CHARS_MAX ? raw : null, store };
}

/** Few short items stand where their list is mentioned: a long message is one object, not three. */
function storeItems(objects: ObjectStore, kind: "l" | "m", items: readonly string[]): StoredValue {
  const chars = items.reduce((sum, item) => sum + item.length + 1, 0);
  if (chars <= INLINE_CHARS_MAX) return `{"${kind.toUpperCase()}":[${items.join(",")}]}`;
  return sequenceText(kind, writeSequence(objects, items));
}

function sequenceText(kind: "l" | "m" | "t", { root, height }: Sequence): StoredValue {
  return `{"${kind}":[${JSON.stringify(root)},${height}]}`;
}

function invalid(why: string): WaypointError {
  return new WaypointError("USAGE_INVALID", "A value cannot be kept as JSON.", { hint: why });
}
