import { FINE_PARTS } from "../../portable/objects/index.ts";
import { damaged } from "./seal.ts";

/**
 * Where a value lies: the serializer's type, and its bytes. Few stand here, as text or in base64;
 * else in objects: their ids, or the root and height of the tree that has them, and the end of the
 * value if that is short.
 */
export type StoredValue = { t: string } & (
  | { v: string }
  | { b: string }
  | { o: readonly string[]; e?: string }
  | { s: readonly [root: string, height: number]; e?: string }
);

/** A longer one is refused; V8 has no longer texts. */
export const VALUE_BYTES_MAX = 512 * 1024 * 1024;
const PARTS_MAX = 4 * (VALUE_BYTES_MAX / FINE_PARTS.bytesMin);
/** Each level of a tree is at least ten times as wide as the one above. */
const HEIGHT_MAX = 8;

/** Returns the bytes that stand where the value is mentioned; null where they lie elsewhere. */
export function inlineBytes(stored: StoredValue): Buffer | null {
  if ("v" in stored) return Buffer.from(stored.v);
  return "b" in stored ? Buffer.from(stored.b, "base64") : null;
}

/** Returns the bytes that stand behind the objects. */
export function endOf(stored: StoredValue): Buffer {
  return Buffer.from(("e" in stored && stored.e) || "", "base64");
}

/** Returns the ids in nodes of a tree. A node's items are JSON texts, a line each. */
export function itemsOf(nodes: readonly Buffer[]): string[] {
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
  if ("e" in stored && typeof stored.e !== "string") return false;
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
