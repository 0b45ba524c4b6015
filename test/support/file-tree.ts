import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import type { FileChange } from "../../src/index.ts";

/** What is at one path; equal for paths that nobody could tell apart but by their times. */
export interface TreeNode {
  type: string;
  mode: number;
  owner: string;
  sizeBytes: number;
  content: string;
}

/** A tree: paths relative to its top, each byte one character, with what is there. */
export type FileTree = Map<string, TreeNode>;

/** Returns the bytes of a name whose every byte is one character. */
export function bytesOf(raw: string): Buffer {
  return Buffer.from(raw, "latin1");
}

/** Reads the tree below `top`. */
export function readTree(top: string): FileTree {
  const tree: FileTree = new Map();
  const visit = (relative: string) => {
    const at = bytesOf(`${top}${relative}`);
    for (const name of readdirSync(at, "latin1")) {
      const child = `${relative}/${name}`;
      const status = lstatSync(bytesOf(`${top}${child}`));
      tree.set(child, describe(bytesOf(`${top}${child}`), status));
      if (status.isDirectory()) visit(child);
    }
  };
  visit("");
  return tree;
}

function describe(at: Buffer, status: Stats): TreeNode {
  const type = status.mode & 0o170000;
  const content = status.isFile()
    ? createHash("sha1").update(readFileSync(at)).digest("hex")
    : status.isSymbolicLink()
      ? readlinkSync(at, "latin1")
      : "";
  return {
    type: type.toString(8),
    mode: status.mode & 0o7777,
    owner: `${status.uid}:${status.gid}`,
    sizeBytes: status.isFile() || status.isSymbolicLink() ? status.size : 0,
    content,
  };
}

/**
 * Applies changes to a tree; what was added or changed is taken from the tree after.
 *
 * @param prefix  where the tree is in the session.
 * @throws when a change does not fit: it names what is not there, or tells what did not happen.
 */
export function applyChanges(
  before: FileTree,
  changes: readonly FileChange[],
  after: FileTree,
  prefix: string,
): FileTree {
  const facts = changes.map((change) => locate(change, prefix));
  const renames = facts.filter(({ change }) => change.change === "renamed");
  const deleted = new Set(
    facts.filter(({ change }) => change.change === "deleted").map(({ path }) => path),
  );
  for (const path of deleted) require(before.has(path), "deleted, and was not there", path);
  const moved: FileTree = new Map();
  for (const [path, node] of before) {
    if (!deleted.has(path)) moved.set(newPathOf(path, renames), node);
  }
  const result = new Map(moved);
  for (const { change, path, from } of facts) {
    if (change.change === "deleted") {
      require(change.sizeBefore === before.get(path)?.sizeBytes, "another size before", path);
      continue;
    }
    const node = after.get(path);
    if (node === undefined) throw new Error(`${change.change}, and is not there: ${path}`);
    require(change.sizeAfter === node.sizeBytes, "another size after", path);
    if (change.change === "added") require(!moved.has(path), "added, and was there", path);
    if (change.change === "modified") require(!isSame(moved.get(path), node), "not modified", path);
    if (change.change === "renamed") {
      const isFree = !before.has(path) || deleted.has(path);
      require(before.has(from) && isFree, "no rename", path);
      const isChanged = !isSame(before.get(from), node);
      require(isChanged === (change.what !== undefined), "told wrongly what changed", path);
      if (!isChanged) continue;
    }
    result.set(path, node);
  }
  return result;
}

function isSame(one: TreeNode | undefined, other: TreeNode): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function require(isTrue: boolean, what: string, path: string): void {
  if (!isTrue) throw new Error(`${what}: ${path}`);
}

function locate(change: FileChange, prefix: string) {
  const raw = (text: string, base64?: string) =>
    Buffer.from(base64 ?? text, base64 === undefined ? "utf8" : "base64")
      .toString("latin1")
      .slice(prefix.length);
  return {
    change,
    path: raw(change.path, change.pathBase64),
    from: change.from === undefined ? "" : raw(change.from, change.fromBase64),
  };
}

/** The innermost directory that was renamed decides where something has gone. */
function newPathOf(path: string, renames: readonly { path: string; from: string }[]): string {
  const [innermost] = renames
    .filter(({ from }) => path === from || path.startsWith(`${from}/`))
    .sort((one, other) => other.from.length - one.from.length);
  return innermost === undefined ? path : innermost.path + path.slice(innermost.from.length);
}
