import { chmodSync, lstatSync, readdirSync, readlinkSync, type Stats } from "node:fs";
import path from "node:path";
import { WaypointError } from "../shared/errors/index.ts";
import { isSystemError } from "./system-error.ts";

/** As many as the kernel follows. */
const LINKS_MAX = 40;
const STICKY = 0o1000;

/**
 * Checks that nobody but this user and root can put something else in a state directory's place, or
 * into it; what is not there yet is fine.
 *
 * A client believes what answers there, and the daemon runs as root on what it finds there.
 *
 * @throws USAGE_INVALID
 */
export function requireOwnStateDir(stateDir: string): void {
  const whole = path.resolve(stateDir);
  const waiting = partsOf(whole);
  let current = "/";
  for (let links = 0; ; ) {
    const next = waiting.shift();
    const at = next === undefined ? current : path.join(current, next);
    const status = tryLstat(at);
    if (status === null) return;
    if (status.isSymbolicLink() && links++ < LINKS_MAX) {
      requireTrustedOwner(whole, at, status);
      const target = readlinkSync(at);
      if (path.isAbsolute(target)) current = "/";
      waiting.unshift(...partsOf(target));
      continue;
    }
    requireTrustedOwner(whole, at, status);
    const isStateDir = waiting.length === 0;
    if (isOpenToOthers(status) && (isStateDir || (status.mode & STICKY) === 0)) {
      throw notOwn(whole, `${at} can be written by other users`);
    }
    if (isStateDir) return;
    current = at;
  }
}

/**
 * Gives a state directory and what lies directly in it and in `below` to its owner alone.
 *
 * **Requires** {@link requireOwnStateDir}. Links and what is mounted below are left as they are.
 */
export function closeToOthers(stateDir: string, below: readonly string[]): void {
  for (const directory of [stateDir, ...below]) {
    if (tryLstat(directory) === null) continue;
    chmodSync(directory, 0o700);
    for (const name of readdirSync(directory)) closeEntry(path.join(directory, name));
  }
}

function closeEntry(entryPath: string): void {
  const status = tryLstat(entryPath);
  if (status === null || !(status.isFile() || status.isDirectory() || status.isSocket())) return;
  const mode = status.isDirectory() ? 0o700 : 0o600;
  if ((status.mode & 0o7777) !== mode) chmodSync(entryPath, mode);
}

function partsOf(text: string): string[] {
  return text.split("/").filter(Boolean);
}

function requireTrustedOwner(whole: string, at: string, { uid }: Stats): void {
  if (uid === 0 || uid === process.geteuid?.()) return;
  throw notOwn(whole, `${at} belongs to the user with the number ${uid}`);
}

/** The group of root has no other members that could not do as they like anyway. */
function isOpenToOthers({ mode, gid }: Stats): boolean {
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== 0);
}

function tryLstat(at: string): Stats | null {
  try {
    return lstatSync(at);
  } catch (error) {
    if (isSystemError(error, "ENOENT", "ENOTDIR", "EACCES", "ENAMETOOLONG", "ELOOP")) return null;
    throw error;
  }
}

function notOwn(stateDir: string, reason: string): WaypointError {
  return new WaypointError("USAGE_INVALID", `${stateDir} cannot be a state directory: ${reason}.`, {
    hint: "Choose one that belongs to root, as do all directories above it, and that no other user can change.",
    detail: { stateDir, reason },
  });
}
