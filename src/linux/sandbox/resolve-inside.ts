import { lstatSync, readlinkSync, statSync } from "node:fs";
import path from "node:path";

const LINKS_FOLLOWED_MAX = 16;

/** Returns the host's path of `insidePath`, or `null` where it does not exist inside `baseDir`. */
export function resolveInside(baseDir: string, insidePath: string): string | null {
  let resolved = "/";
  const waiting = insidePath.split("/").filter(Boolean);
  let links = 0;
  while (waiting.length > 0) {
    const part = waiting.shift() as string;
    const candidate = path.posix.join(resolved, part);
    const target = linkTarget(path.join(baseDir, candidate));
    if (target === undefined) return null;
    if (target === null) {
      resolved = candidate;
      continue;
    }
    links += 1;
    if (links > LINKS_FOLLOWED_MAX) return null;
    waiting.unshift(...target.split("/").filter(Boolean));
    if (target.startsWith("/")) resolved = "/";
  }
  return path.join(baseDir, resolved);
}

/** Tells whether a root filesystem has a directory at this absolute path. */
export function isDirectoryInside(baseDir: string, insidePath: string): boolean {
  if (!insidePath.startsWith("/")) return false;
  const hostPath = resolveInside(baseDir, insidePath);
  return hostPath !== null && statSync(hostPath).isDirectory();
}

/** Returns a symlink's target, `null` for anything else that exists, `undefined` for nothing. */
function linkTarget(hostPath: string): string | null | undefined {
  try {
    return lstatSync(hostPath).isSymbolicLink() ? readlinkSync(hostPath) : null;
  } catch {
    return undefined;
  }
}
