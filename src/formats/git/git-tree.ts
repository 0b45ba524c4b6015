import type { RawPath } from "../../base/index.ts";
import type { GitObject } from "./git-pack.ts";

const SPACE = 0x20;

/** What a tree has under one name. */
export interface GitTreeEntry {
  mode: number;
  id: string;
}

/** Returns what a tree has under a name, or `null`. @throws Error  it is no tree, or damaged. */
export function findInTree(
  { type, content }: GitObject,
  name: RawPath,
  hashBytes: number,
): GitTreeEntry | null {
  if (type !== "tree") throw new Error("a tree is something else");
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(SPACE, at);
    const end = content.indexOf(0, space + 1);
    const next = end + 1 + hashBytes;
    if (space === -1 || end === -1 || next > content.length) throw new Error("a tree is damaged");
    if (content.toString("latin1", space + 1, end) === name) {
      const mode = Number.parseInt(content.toString("latin1", at, space), 8);
      return { mode, id: content.toString("hex", end + 1, next) };
    }
    at = next;
  }
  return null;
}
