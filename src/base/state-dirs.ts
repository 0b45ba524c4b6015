import { mkdirSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync } from "node:fs";
import path from "node:path";
import { STATE_DIR_DEFAULT } from "./state-dir.ts";
import { isSystemError } from "./system-error.ts";

/** Names every state directory of this machine, so that no daemon shows another's to its sessions. */
const REGISTRY_DIR = "/var/lib/waypoint.dirs";
/** More than these are not looked at: each costs a new session a few directories. */
const STATE_DIRS_MAX = 256;

/**
 * Notes a state directory for the daemons of this machine; one that is noted already stays so.
 *
 * A note is a symbolic link to the directory, named by its device and inode: one that leads
 * elsewhere now, or nowhere, is of a directory that is gone, or of another mount namespace.
 */
export function noteStateDir(stateDir: string): void {
  mkdirSync(REGISTRY_DIR, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(REGISTRY_DIR)) {
    if (isGoneHere(name)) rmSync(path.join(REGISTRY_DIR, name), { force: true });
  }
  try {
    symlinkSync(path.resolve(stateDir), path.join(REGISTRY_DIR, nameOf(stateDir)));
  } catch (error) {
    if (!isSystemError(error, "EEXIST")) throw error;
  }
}

/** Returns a state directory, and all others of this machine that daemons have noted. */
export function knownStateDirs(stateDir: string): string[] {
  return [stateDir, STATE_DIR_DEFAULT, ...notedStateDirs()];
}

/** Lists the state directories that were noted on this machine and are still there, in no order. */
function notedStateDirs(): string[] {
  return noteNames()
    .slice(0, STATE_DIRS_MAX)
    .flatMap((name) => {
      const directory = readlinkOrNull(name);
      return directory !== null && isStill(directory, name) ? [directory] : [];
    });
}

function noteNames(): string[] {
  try {
    return readdirSync(REGISTRY_DIR);
  } catch {
    return []; // No daemon has noted anything yet.
  }
}

function nameOf(stateDir: string): string {
  const { dev, ino } = statSync(stateDir);
  return `${mountNamespace()}-${dev}-${ino}`;
}

/** What another mount namespace has noted may well be there. */
function isGoneHere(name: string): boolean {
  if (!name.startsWith(`${mountNamespace()}-`)) return false;
  const directory = readlinkOrNull(name);
  return directory === null || !isStill(directory, name);
}

function isStill(directory: string, name: string): boolean {
  const found = statSync(directory, { throwIfNoEntry: false });
  return found !== undefined && name.endsWith(`-${found.dev}-${found.ino}`);
}

function readlinkOrNull(name: string): string | null {
  try {
    return readlinkSync(path.join(REGISTRY_DIR, name));
  } catch {
    return null;
  }
}

function mountNamespace(): string {
  return /\d+/.exec(readlinkSync("/proc/self/ns/mnt"))?.[0] ?? "0";
}
