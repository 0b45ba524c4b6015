import { createHash } from "node:crypto";
import { WaypointError } from "../../shared/errors/index.ts";

/** What a key cannot have: all but printable ASCII, and what escapes and separates. */
const ESCAPED = /[^!-$&-.0-~]/g;
const PART_CHARS_MAX = 200;
/** Greater than all indexes of special writes, which are negative. */
const INDEX_OFFSET = 10;
const INDEX_DIGITS = 6;

export const CHECKPOINTS_PREFIX = "c/";
export const WRITES_PREFIX = "w/";
export const OBJECTS_PREFIX = "o/";
export const NAMES_PREFIX = "n/";
/** When the thread's time is over. */
export const EXPIRY_KEY = "x";

/** Returns the key of a checkpoint; those of a namespace are in the order of their ids. */
export function checkpointKey(namespace: string, id: string): string {
  return `${checkpointsPrefix(namespace)}${idPart(id)}`;
}

/** Returns what the keys of a namespace's checkpoints begin with; of all namespaces without one. */
export function checkpointsPrefix(namespace?: string): string {
  return namespace === undefined
    ? CHECKPOINTS_PREFIX
    : `${CHECKPOINTS_PREFIX}${shortPart(namespace)}/`;
}

/** Returns what the keys of all writes below a checkpoint begin with. */
export function writesPrefix(namespace: string, id: string): string {
  return `${WRITES_PREFIX}${shortPart(namespace)}/${idPart(id)}/`;
}

/**
 * Returns the key of one write of a task.
 *
 * @param branch  empty for the writes that a resumed run reads; else those of another branch
 */
export function writeKey(at: {
  namespace: string;
  id: string;
  taskId: string;
  branch: string;
  index: number;
}): string {
  const index = String(at.index + INDEX_OFFSET).padStart(INDEX_DIGITS, "0");
  const task = shortPart(at.taskId);
  return `${writesPrefix(at.namespace, at.id)}${task}/${at.branch}/${index}`;
}

/** Returns what the key of a write shares with those below the same checkpoint. */
export function idInWriteKey(key: string): string {
  return `${key.split("/").slice(0, 3).join("/")}/`;
}

/** Tells whether a key is that of a write which belongs to another branch than the first. */
export function isOfOtherBranch(key: string): boolean {
  return key.split("/").at(-2) !== "";
}

export function objectKey(id: string): string {
  return `${OBJECTS_PREFIX}${id}`;
}

export function nameKey(name: string): string {
  return `${NAMES_PREFIX}${shortPart(name)}`;
}

function idPart(id: string): string {
  const part = escaped(id);
  if (part.length <= PART_CHARS_MAX) return part;
  throw new WaypointError("USAGE_INVALID", "The id of a graph's checkpoint is too long.", {
    detail: { charsMax: PART_CHARS_MAX },
  });
}

/** Parts whose order does not matter may be long: the hash stands for those. */
function shortPart(text: string): string {
  const part = escaped(text);
  if (part.length <= PART_CHARS_MAX) return part;
  return `%${createHash("sha256").update(text).digest("base64url")}`;
}

function escaped(text: string): string {
  return text.replace(ESCAPED, (char) => `%${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
