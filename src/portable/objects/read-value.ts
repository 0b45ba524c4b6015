import { WaypointError } from "../../shared/errors/index.ts";
import type { ObjectId, ObjectStore } from "./object-store.ts";
import { readObject, readSequence } from "./sequence.ts";
import type { JsonValue, StoredValue } from "./store-value.ts";

/** A {@link StoredValue} as it is written: one of these keys. */
interface Forms {
  /** The value itself. */
  v?: JsonValue;
  /** An object with the value's JSON text. */
  j?: ObjectId;
  /** A text, a list or a map as a sequence: its root and its height. */
  t?: [ObjectId, number];
  l?: [ObjectId, number];
  m?: [ObjectId, number];
  /** A list or a map whose few items stand here. */
  L?: Forms[];
  M?: [string, Forms][];
}

/**
 * Returns the value as it was kept.
 *
 * @throws STORE_FAILED  an object is missing.
 */
export function readValue(objects: ObjectStore, stored: StoredValue): JsonValue {
  // One text is parsed once: a key called __proto__ stays a key.
  return JSON.parse(textOf(objects, JSON.parse(stored), () => {}));
}

/** Returns the ids of all objects that a value needs. */
export function objectsOf(objects: ObjectStore, stored: StoredValue): Set<ObjectId> {
  const ids = new Set<ObjectId>();
  textOf(objects, JSON.parse(stored), (id) => ids.add(id));
  return ids;
}

/** @throws USAGE_INVALID  it is no list. */
export function listOf(objects: ObjectStore, stored: StoredValue): readonly JsonValue[] {
  const value = readValue(objects, stored);
  if (Array.isArray(value)) return value;
  throw new WaypointError("USAGE_INVALID", "Items can be appended to a list alone.");
}

function textOf(objects: ObjectStore, forms: Forms, onObject: (id: ObjectId) => void): string {
  const sequence = ([root, height]: [ObjectId, number]) =>
    readSequence(objects, { root, height }, onObject);
  const part = (id: ObjectId) => {
    onObject(id);
    return Buffer.from(readObject(objects, id));
  };
  const item = (each: Forms) => textOf(objects, each, onObject);
  const entry = ([key, value]: [string, Forms]) => `${JSON.stringify(key)}:${item(value)}`;
  if (forms.j !== undefined) return part(forms.j).toString();
  if (forms.t !== undefined) {
    // A character may lie in two parts.
    return Buffer.concat([...sequence(forms.t)].map((id) => part(JSON.parse(id)))).toString();
  }
  if (forms.L !== undefined) return `[${forms.L.map(item).join(",")}]`;
  if (forms.M !== undefined) return `{${forms.M.map(entry).join(",")}}`;
  if (forms.l !== undefined) {
    return `[${[...sequence(forms.l)].map((text) => item(JSON.parse(text))).join(",")}]`;
  }
  if (forms.m !== undefined) {
    return `{${[...sequence(forms.m)].map((text) => entry(JSON.parse(text))).join(",")}}`;
  }
  return JSON.stringify(forms.v);
}
