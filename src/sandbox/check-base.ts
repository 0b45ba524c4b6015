import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import { isSystemError } from "../base/index.ts";
import { WaypointError } from "../errors/index.ts";
import { findProgramFault } from "./find-program-fault.ts";
import { resolveInside } from "./resolve-inside.ts";

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

/**
 * Checks that `baseDir` is a root filesystem and returns its shell.
 *
 * @throws BASE_INVALID  it is missing, no directory, or holds no shell that can run here.
 */
export function checkBase(baseDir: string): BaseShell {
  const state = stateOf(baseDir);
  if (state !== null) {
    throw new WaypointError("BASE_INVALID", `The base ${baseDir} ${state}.`, {
      hint: "Give --base the directory of an unpacked root filesystem, or leave it out.",
    });
  }
  const present = SHELLS.filter(({ shellPath }) => isExecutableInside(baseDir, shellPath));
  const faults: string[] = [];
  for (const shell of present) {
    const fault = findProgramFault(baseDir, shell.shellPath);
    if (fault === null) return shell;
    faults.push(fault);
  }
  const [fault] = faults;
  if (fault === undefined) throw noShell(baseDir);
  throw new WaypointError("BASE_INVALID", `No shell of the base ${baseDir} can run: ${fault}.`, {
    hint: "Give --base a complete root filesystem for this machine's architecture.",
    detail: { faults },
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
