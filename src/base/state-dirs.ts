import {
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import path from "node:path";
import { STATE_DIR_DEFAULT } from "./state-dir.ts";
import { isSystemError } from "./system-error.ts";

/** Names every state directory of this machine, so that no daemon shows another's to its sessions. */
const REGISTRY_DIR = "/var/lib/waypoint.dirs";
/** More than these are neither kept nor looked at: each costs a new session a few directories. */
const STATE_DIRS_MAX = 256;

/**
 * Notes a state directory for the daemons of this machine; one that is noted already stays so, and is
 * the newest again.
 *
 * A note is a symbolic link to the directory, named by its device and inode: one that leads
 * elsewhere now, or nowhere, is of a directory that is gone, or of another mount namespace. Nobody can
 * tell of those whether they are gone: where there are too many, the oldest go.
 *
 * @param registryDir  @defaultValue the one of this machine
 */
export function noteStateDir(stateDir: string, registryDir: string = REGISTRY_DIR): void {
  mkdirSync(registryDir, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(registryDir)) {
    if (isGoneHere(registryDir, name)) rmSync(path.join(registryDir, name), { force: true });
  }
  const notePath = path.join(registryDir, nameOf(stateDir));
  try {
    symlinkSync(path.resolve(stateDir), notePath);
  } catch (error) {
    if (!isSystemError(error, "EEXIST")) throw error;
    lutimesSync(notePath, Date.now() / 1000, Date.now() / 1000);
  }
  dropOldest(registryDir);
}

/** Drops what other mount namespaces have noted, the oldest first, until there are few enough. */
function dropOldest(registryDir: string): void {
  const names = readdirSync(registryDir);
  const foreign = names
    .filter((name) => !isOfThisNamespace(name))
    .map((name) => path.join(registryDir, name))
    .map((note) => ({ note, atMs: lstatSync(note, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => one.atMs - other.atMs);
  const tooMany = Math.max(0, names.length - STATE_DIRS_MAX);
  for (const { note } of foreign.slice(0, tooMany)) rmSync(note, { force: true });
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
      const directory = readlinkOrNull(REGISTRY_DIR, name);
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
function isGoneHere(registryDir: string, name: string): boolean {
  if (!isOfThisNamespace(name)) return false;
  const directory = readlinkOrNull(registryDir, name);
  return directory === null || !isStill(directory, name);
}

function isOfThisNamespace(name: string): boolean {
  return name.startsWith(`${mountNamespace()}-`);
}

function isStill(directory: string, name: string): boolean {
  const found = statSync(directory, { throwIfNoEntry: false });
  return found !== undefined && name.endsWith(`-${found.dev}-${found.ino}`);
}

function readlinkOrNull(registryDir: string, name: string): string | null {
  try {
    return readlinkSync(path.join(registryDir, name));
  } catch {
    return null;
  }
}

function mountNamespace(): string {
  return /\d+/.exec(readlinkSync("/proc/self/ns/mnt"))?.[0] ?? "0";
}
