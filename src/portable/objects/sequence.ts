import { WaypointError } from "../../shared/errors/index.ts";
import type { ObjectId, ObjectStore } from "./object-store.ts";

/** A node ends behind an item that says so, from this length on, ... */
const NODE_CHARS_MIN = 512;
/** ... or at this one. */
const NODE_CHARS_MAX = 4096;
/** One item of so many says that its node ends. */
const ITEMS_PER_END = 8;

/**
 * Items in the leaves of a tree of objects, whose borders depend on the items alone: what follows
 * costs the last node of each level, and equal beginnings are the same objects.
 */
export interface Sequence {
  root: ObjectId;
  /** Levels above the leaves. */
  height: number;
}

/** Keeps items, each a JSON text. */
export function writeSequence(objects: ObjectStore, items: readonly string[]): Sequence {
  return climb(objects, writeNodes(objects, items), 0);
}

/** Returns the sequence with further items at its end: what {@link writeSequence} makes of all. */
export function appendToSequence(
  objects: ObjectStore,
  { root, height }: Sequence,
  items: readonly string[],
): Sequence {
  const path: string[][] = [readNode(objects, root)];
  for (let level = height; level > 0; level -= 1) {
    path.push(readNode(objects, JSON.parse(path.at(-1)?.at(-1) ?? "null")));
  }
  let added = [...items];
  for (let level = 0; level < height; level += 1) {
    added = writeNodes(objects, [...(path.pop() ?? []), ...added]);
    // The parent's last child is written anew, as the first of these.
    path.at(-1)?.pop();
  }
  return climb(objects, writeNodes(objects, [...(path.pop() ?? []), ...added]), height);
}

/** Yields the items in their order, and each node's id to `onNode` before what is in it. */
export function* readSequence(
  objects: ObjectStore,
  { root, height }: Sequence,
  onNode: (id: ObjectId) => void = () => {},
): Generator<string> {
  onNode(root);
  const items = readNode(objects, root);
  if (height <= 0) return yield* items;
  for (const child of items) {
    yield* readSequence(objects, { root: JSON.parse(child), height: height - 1 }, onNode);
  }
}

/** Groups nodes until one is left. */
function climb(objects: ObjectStore, nodes: readonly string[], from: number): Sequence {
  let [level, height] = [nodes, from];
  for (; level.length > 1; height += 1) level = writeNodes(objects, level);
  return { root: JSON.parse(level[0] ?? "null"), height };
}

/** Returns the ids of the nodes as JSON texts: the items of the level above. */
function writeNodes(objects: ObjectStore, items: readonly string[]): string[] {
  const nodes: string[] = [];
  let node: string[] = [];
  let chars = 0;
  const close = () => {
    nodes.push(JSON.stringify(objects.put(Buffer.from(node.map((item) => `${item}\n`).join("")))));
    [node, chars] = [[], 0];
  };
  for (const item of items) {
    node.push(item);
    chars += item.length;
    const isEnd = chars >= NODE_CHARS_MIN && hashOf(item) % ITEMS_PER_END === 0;
    if (isEnd || chars >= NODE_CHARS_MAX) close();
  }
  if (node.length > 0 || nodes.length === 0) close();
  return nodes;
}

function readNode(objects: ObjectStore, id: ObjectId): string[] {
  return Buffer.from(readObject(objects, id)).toString().split("\n").slice(0, -1);
}

/** @throws STORE_FAILED  it is not there. */
export function readObject(objects: ObjectStore, id: ObjectId): Uint8Array {
  const bytes = objects.get(id);
  if (bytes !== undefined) return bytes;
  throw new WaypointError("STORE_FAILED", `Object ${id} is missing from the store.`);
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  // Its low bits are poor by themselves.
  return (hash ^ (hash >>> 15)) >>> 0;
}
