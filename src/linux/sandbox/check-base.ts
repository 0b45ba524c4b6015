import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import { isSystemError } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { findProgramFault } from "./find-program-fault.ts";
import { isHidden } from "./hidden-places.ts";
import { resolveInside } from "./resolve-inside.ts";
import type { Hidden } from "./select-mounts.ts";

/** A shell that a session can be started with, and how Waypoint talks to it. */
export interface BaseShell {
  /** Path inside the base. */
  shellPath: string;
  dialect: ShellDialect;
}

/** How a shell is talked to; init finds out by itself which one runs (docs/init-protocol.md). */
export type ShellDialect = "bash" | "posix" | "zsh" | "fish";

const SHELLS: readonly BaseShell[] = [
  { shellPath: "/bin/bash", dialect: "bash" },
  { shellPath: "/usr/bin/bash", dialect: "bash" },
  { shellPath: "/bin/sh", dialect: "posix" },
  { shellPath: "/usr/bin/sh", dialect: "posix" },
];

const SHELL_DIRS = ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"];
const DIALECTS = ["bash", "zsh", "fish"] as const;

/**
 * Checks that `baseDir` is a root filesystem and returns its shell.
 *
 * @param wanted  name or path of the shell; `null` for bash, or sh where there is none.
 * @param withLibraries  also looks for every library that the shell needs; for a new session.
 *
 * @throws BASE_INVALID  it is missing, no directory, or holds no shell that can run here.
 */
export function checkBase(
  baseDir: string,
  wanted: string | null = null,
  { withLibraries = false }: { withLibraries?: boolean } = {},
): BaseShell {
  const state = stateOf(baseDir);
  if (state !== null) {
    throw new WaypointError("BASE_INVALID", `The base ${baseDir} ${state}.`, {
      hint: "Give --base the directory of an unpacked root filesystem, or leave it out.",
    });
  }
  const candidates = wanted === null ? SHELLS : candidatesFor(wanted);
  const present = candidates.filter(({ shellPath }) => isExecutableInside(baseDir, shellPath));
  const faults: string[] = [];
  for (const shell of present) {
    const fault = findProgramFault(baseDir, shell.shellPath, { withLibraries });
    if (fault === null) return shell;
    faults.push(fault);
  }
  const [fault] = faults;
  if (fault === undefined) throw wanted === null ? noShell(baseDir) : shellMissing(baseDir, wanted);
  throw new WaypointError("BASE_INVALID", `No shell of the base ${baseDir} can run: ${fault}.`, {
    hint: "Give --base a complete root filesystem for this machine's architecture.",
    detail: { faults },
  });
}

/** Checks that a base is not Waypoint's own state, by whatever name. @throws BASE_INVALID */
export function requireOutsideState(baseDir: string, hidden: Hidden): void {
  if (!isHidden(baseDir, hidden)) return;
  throw new WaypointError("BASE_INVALID", `The base ${baseDir} lies in Waypoint's own state.`, {
    hint: "Copy the root filesystem to a directory outside of every state directory.",
  });
}

/** Returns where a shell may be: at its path, or in one of the directories of programs. */
function candidatesFor(wanted: string): BaseShell[] {
  if (wanted.includes("/") && !wanted.startsWith("/")) return [];
  const paths = wanted.includes("/") ? [wanted] : SHELL_DIRS.map((dir) => `${dir}/${wanted}`);
  const name = path.posix.basename(wanted);
  const dialect = DIALECTS.find((known) => known === name) ?? "posix";
  return paths.map((shellPath) => ({ shellPath, dialect }));
}

function shellMissing(baseDir: string, wanted: string): WaypointError {
  return new WaypointError("BASE_INVALID", `The base ${baseDir} has no shell ${wanted}.`, {
    hint: "Install it there first, or leave --shell out for bash or sh.",
  });
}

function noShell(baseDir: string): WaypointError {
  return new WaypointError("BASE_INVALID", `The base ${baseDir} is no root filesystem.`, {
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
