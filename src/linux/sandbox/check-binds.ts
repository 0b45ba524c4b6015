import { lstatSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Bind } from "../../shared/protocol/index.ts";
import { hiddenBelow, isHidden } from "./hidden-places.ts";
import { resolveInside } from "./resolve-inside.ts";
import { type Hidden, isBelow, isNameableMount } from "./select-mounts.ts";

/** A session's own; nothing of the host may take their place or be put into them. */
const SESSION_DIRECTORIES = ["/proc", "/sys", "/dev", "/run/waypoint"];

/** Not the host's: the daemon lives in a mount namespace with a /run of its own. */
const SOURCES_REFUSED = ["/proc", "/sys", "/dev", "/run"];

/**
 * Checks the binds of a new session and returns them with all symbolic links resolved: sources as
 * the host sees them, targets as the session will.
 *
 * @throws BIND_INVALID
 */
export function checkBinds(
  binds: readonly Bind[],
  where: { baseDir: string; hidden: Hidden },
): Bind[] {
  const resolved = binds.map((bind) => ({
    source: resolveSource(bind, where.hidden),
    target: resolveTarget(bind, where.baseDir),
    readOnly: bind.readOnly,
  }));
  for (const [index, { target }] of resolved.entries()) {
    const other = resolved.findIndex(
      (bind, position) => position !== index && isBelow(target, bind.target),
    );
    if (other === -1) continue;
    const what = target === resolved[other]?.target ? "is given twice" : "lies inside another bind";
    throw refused(`The target ${target} of a bind ${what}.`, "Give each bind a place of its own.");
  }
  return resolved;
}

function resolveSource({ source }: Bind, hidden: Hidden): string {
  if (!path.isAbsolute(source)) {
    throw refused(`The source ${source} of a bind is not an absolute path.`, ABSOLUTE);
  }
  const resolved = tryRealpath(source);
  if (resolved === null) {
    throw refused(`The source ${source} of a bind does not exist.`, SOURCE);
  }
  if (SOURCES_REFUSED.some((directory) => isBelow(resolved, directory))) {
    throw refused(`The source ${source} of a bind cannot be shared.`, SHAREABLE);
  }
  if (!statSync(resolved).isDirectory()) {
    throw refused(`The source ${source} of a bind is not a directory.`, SOURCE);
  }
  requireNoState(resolved, hidden);
  return resolved;
}

/**
 * Checks that a directory about to be bound neither is Waypoint's own state nor shows any of it.
 *
 * Again before each mount: a session that can write to a directory above the source may have put a
 * link in its place.
 *
 * @throws BIND_INVALID
 */
export function requireNoState(source: string, hidden: Hidden): void {
  if (isHidden(source, hidden)) {
    throw refused(`The source ${source} of a bind cannot be shared.`, SHAREABLE);
  }
  const [shown] = hiddenBelow(source, hidden);
  if (shown === undefined) return;
  throw refused(
    `The source ${source} of a bind cannot be shared: ${path.join(source, shown)} is Waypoint's state.`,
    SHAREABLE,
  );
}

function resolveTarget({ target }: Bind, baseDir: string): string {
  if (!path.isAbsolute(target)) {
    throw refused(`The target ${target} of a bind is not an absolute path.`, ABSOLUTE);
  }
  if (!isNameableMount(target)) {
    throw refused("The target of a bind has characters that CRIU cannot be told.", CHARACTERS);
  }
  const resolved = resolveAsFarAsItExists(baseDir, path.posix.resolve(target));
  const isTaken = SESSION_DIRECTORIES.some(
    (directory) => isBelow(resolved, directory) || isBelow(directory, resolved),
  );
  if (isTaken) {
    throw refused(`The target ${target} of a bind is the session's own.`, TARGET);
  }
  const below = lstatSync(path.join(baseDir, resolved), { throwIfNoEntry: false });
  if (below === undefined || below.isDirectory()) return resolved;
  throw refused(`The target ${target} of a bind is not a directory.`, TARGET);
}

/** What does not exist yet is made when it is mounted on. */
function resolveAsFarAsItExists(baseDir: string, insidePath: string): string {
  const existing = resolveInside(baseDir, insidePath);
  if (existing !== null) return path.posix.join("/", path.relative(baseDir, existing));
  const parent = resolveAsFarAsItExists(baseDir, path.posix.dirname(insidePath));
  return path.posix.join(parent, path.posix.basename(insidePath));
}

function tryRealpath(source: string): string | null {
  try {
    return realpathSync(source);
  } catch {
    return null;
  }
}

const ABSOLUTE = "Both sides of a bind begin with a slash.";
const SOURCE = "Make the directory first; only directories can be bound.";
const SHAREABLE = "Kernel interfaces, /run and Waypoint's own state stay outside sessions.";
const TARGET = "Choose a directory that is not /, /run, /proc, /sys, /dev or a part of them.";
const CHARACTERS = "Leave out colons, square brackets and control characters.";

function refused(message: string, hint: string): WaypointError {
  return new WaypointError("BIND_INVALID", message, { hint });
}
