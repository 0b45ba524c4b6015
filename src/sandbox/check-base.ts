import { accessSync, constants, lstatSync, readlinkSync, statSync } from "node:fs";
import path from "node:path";
import { isSystemError } from "../base/index.ts";
import { WaypointError } from "../errors/index.ts";

/** A shell that a session can be started with, and how Waypoint talks to it. */
export interface BaseShell {
  /** Path inside the base. */
  shellPath: string;
  dialect: "bash" | "posix";
}

const SHELLS: readonly BaseShell[] = [
  { shellPath: "/bin/bash", dialect: "bash" },
  { shellPath: "/usr/bin/bash", dialect: "bash" },
  { shellPath: "/bin/sh", dialect: "posix" },
  { shellPath: "/usr/bin/sh", dialect: "posix" },
];

const LINKS_FOLLOWED_MAX = 16;

/**
 * Checks that `baseDir` is a root filesystem and returns its shell.
 *
 * @throws BASE_INVALID  it is missing, no directory, or holds no shell.
 */
export function checkBase(baseDir: string): BaseShell {
  const state = stateOf(baseDir);
  if (state !== null) {
    throw new WaypointError("BASE_INVALID", `The base ${baseDir} ${state}.`, {
      hint: "Give --base the directory of an unpacked root filesystem, or leave it out.",
    });
  }
  const shell = SHELLS.find(({ shellPath }) => isExecutableInside(baseDir, shellPath));
  if (shell !== undefined) return shell;
  throw new WaypointError("BASE_INVALID", `The base ${baseDir} is no root filesystem.`, {
    hint: "It has no shell: neither /bin/bash nor /bin/sh can be run in it.",
    detail: { searched: SHELLS.map(({ shellPath }) => shellPath) },
  });
}

function stateOf(baseDir: string): string | null {
  if (!path.isAbsolute(baseDir)) return "is not an absolute path";
  try {
    return statSync(baseDir).isDirectory() ? null : "is not a directory";
  } catch (error) {
    return isSystemError(error, "ENOENT", "ENOTDIR") ? "does not exist" : "cannot be read";
  }
}

/** Resolves symlinks as the session will: absolute targets start at the base, not at the host. */
export function isExecutableInside(baseDir: string, insidePath: string): boolean {
  const hostPath = resolveInside(baseDir, insidePath);
  if (hostPath === null) return false;
  try {
    accessSync(hostPath, constants.X_OK);
    return statSync(hostPath).isFile();
  } catch {
    return false;
  }
}

/** Tells whether a root filesystem has a directory at this absolute path. */
export function isDirectoryInside(baseDir: string, insidePath: string): boolean {
  if (!insidePath.startsWith("/")) return false;
  const hostPath = resolveInside(baseDir, insidePath);
  return hostPath !== null && statSync(hostPath).isDirectory();
}

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

/** Returns a symlink's target, `null` for anything else that exists, `undefined` for nothing. */
function linkTarget(hostPath: string): string | null | undefined {
  try {
    return lstatSync(hostPath).isSymbolicLink() ? readlinkSync(hostPath) : null;
  } catch {
    return undefined;
  }
}
