import { createHash } from "node:crypto";
import type { RawPath } from "../../base/index.ts";

const MAGIC = "DIRC";
const HEADER_BYTES = 12;
/** Dates, device, inode, mode, owner, size of one entry. */
const STAT_BYTES = 40;
const STAGE_MASK = 0x3000;
const EXTENDED = 0x4000;
const ASSUME_VALID = 0x8000;
const NAME_MASK = 0x0fff;
const SKIP_WORKTREE = 0x4000;
const INTENT_TO_ADD = 0x2000;
const SUBMODULE_MODE = 0o160000;
const DIRECTORY_MODE = 0o040000;
/** Linux opens no longer path. */
const PATH_BYTES_MAX = 4096;
/** Version 4 shares beginnings of paths: a small file can hold very long ones. */
const PATHS_BYTES_MAX = 8 * 1024 * 1024;
/** Extensions without which the entries are not what they seem. */
const NEEDED: readonly string[] = ["link", "sdir"];

/** A file that a repository keeps track of. */
export interface IndexEntry {
  /** Below the top directory. */
  path: RawPath;
  mode: number;
  sizeBytes: number;
  mtimeSeconds: number;
  mtimeNanoseconds: number;
  id: string;
  /** Whether the file in the work tree is to be looked at. */
  isWatched: boolean;
}

/** What is staged. */
export interface GitIndex {
  entries: IndexEntry[];
  /** Something in it is neither the last commit nor a plain change: a conflict, an empty promise. */
  isUnsettled: boolean;
}

/** @throws Error  it is damaged, or of a kind that is not read. */
export function parseIndex(bytes: Buffer, hashBytes: number, entriesMax: number): GitIndex {
  if (bytes.toString("latin1", 0, 4) !== MAGIC) throw new Error("its index is damaged");
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  if (version < 2 || version > 4) throw new Error(`its index has version ${version}`);
  if (count > entriesMax) throw new Error(`it has more than ${entriesMax} files`);
  const entries: IndexEntry[] = [];
  let isUnsettled = false;
  let at = HEADER_BYTES;
  let pathsBytes = 0;
  for (let path = ""; entries.length < count; ) {
    const idAt = at + STAT_BYTES;
    const flags = bytes.readUInt16BE(idAt + hashBytes);
    const isExtended = version >= 3 && (flags & EXTENDED) !== 0;
    const extended = isExtended ? bytes.readUInt16BE(idAt + hashBytes + 2) : 0;
    const nameAt = idAt + hashBytes + (isExtended ? 4 : 2);
    const name =
      version === 4 ? compressedName(bytes, nameAt, path) : plainName(bytes, nameAt, flags);
    path = name.path;
    pathsBytes += path.length;
    if (pathsBytes > PATHS_BYTES_MAX) throw new Error("the paths in its index are too long");
    isUnsettled ||= (flags & STAGE_MASK) !== 0 || (extended & INTENT_TO_ADD) !== 0;
    const mode = bytes.readUInt32BE(at + 24);
    if (mode === DIRECTORY_MODE) throw new Error("its index is sparse");
    const isSkipped = (flags & ASSUME_VALID) !== 0 || (extended & SKIP_WORKTREE) !== 0;
    entries.push({
      path,
      mode,
      sizeBytes: bytes.readUInt32BE(at + 36),
      mtimeSeconds: bytes.readUInt32BE(at + 8),
      mtimeNanoseconds: bytes.readUInt32BE(at + 12),
      id: bytes.toString("hex", idAt, idAt + hashBytes),
      isWatched: !isSkipped && mode !== SUBMODULE_MODE,
    });
    at = version === 4 ? name.end : at + padded(name.end - at);
  }
  requireKnownExtensions(bytes.subarray(at, bytes.length - hashBytes));
  return { entries, isUnsettled };
}

/** Returns the id of the tree that a commit of exactly these entries would have. */
export function treeId(entries: readonly IndexEntry[], hashBytes: number): string {
  return hashTree(entries, 0, entries.length, 0, hashBytes).toString("hex");
}

/** Returns the id that git gives an object. */
export function objectId(type: string, content: Buffer, hashBytes: number): Buffer {
  const hash = createHash(hashBytes === 32 ? "sha256" : "sha1");
  return hash.update(`${type} ${content.length}\0`).update(content).digest();
}

function hashTree(
  entries: readonly IndexEntry[],
  first: number,
  end: number,
  prefixLength: number,
  hashBytes: number,
): Buffer {
  const parts: Buffer[] = [];
  for (let at = first; at < end; ) {
    const { path, mode, id } = entries[at] as IndexEntry;
    const slash = path.indexOf("/", prefixLength);
    const name = path.slice(prefixLength, slash === -1 ? path.length : slash);
    if (slash === -1) {
      parts.push(treeLine(mode, name), Buffer.from(id, "hex"));
      at += 1;
      continue;
    }
    // What stands before is the same in all of them.
    let next = at + 1;
    while (next < end && entries[next]?.path.startsWith(`${name}/`, prefixLength)) next += 1;
    const inner = hashTree(entries, at, next, slash + 1, hashBytes);
    parts.push(treeLine(DIRECTORY_MODE, name), inner);
    at = next;
  }
  return objectId("tree", Buffer.concat(parts), hashBytes);
}

function treeLine(mode: number, name: RawPath): Buffer {
  return Buffer.from(`${mode.toString(8)} ${name}\0`, "latin1");
}

function plainName(bytes: Buffer, at: number, flags: number) {
  const length = flags & NAME_MASK;
  const end = length === NAME_MASK ? endOfText(bytes, at) : at + length;
  if (end >= bytes.length) throw new Error("its index is damaged");
  return { path: bytes.toString("latin1", at, end), end };
}

/** Version 4 says how much of the last name to take away, and what follows. */
function compressedName(bytes: Buffer, start: number, last: RawPath) {
  let at = start;
  let byte = bytes[at++] ?? 0;
  let dropped = byte & 0x7f;
  while (byte & 0x80) {
    byte = bytes[at++] ?? 0;
    dropped = (dropped + 1) * 128 + (byte & 0x7f);
  }
  const end = endOfText(bytes, at);
  const keptLength = last.length - dropped;
  if (keptLength < 0 || keptLength + end - at > PATH_BYTES_MAX) {
    throw new Error("its index is damaged");
  }
  const kept = last.slice(0, keptLength);
  return { path: kept + bytes.toString("latin1", at, end), end: end + 1 };
}

/** Returns where the NUL behind a path is. @throws Error  there is none near enough */
function endOfText(bytes: Buffer, at: number): number {
  const end = bytes.subarray(at, at + PATH_BYTES_MAX + 1).indexOf(0);
  if (end === -1) throw new Error("its index is damaged");
  return at + end;
}

/** One to eight zero bytes end an entry at a multiple of eight. */
function padded(sizeBytes: number): number {
  return (Math.floor(sizeBytes / 8) + 1) * 8;
}

function requireKnownExtensions(bytes: Buffer): void {
  for (let at = 0; at + 8 <= bytes.length; at += 8 + bytes.readUInt32BE(at + 4)) {
    const name = bytes.toString("latin1", at, at + 4);
    if (NEEDED.includes(name)) throw new Error("its index is split or sparse");
  }
}
