import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import path from "node:path";
import { isSystemError } from "../../../base/index.ts";
import { WaypointError } from "../../../shared/errors/index.ts";

/** Where config files are looked for. */
export interface ConfigPlace {
  env: NodeJS.ProcessEnv;
  /** Where one stands; `null` where that directory is gone. */
  cwd: string | null;
  home: string;
}

/** Name of a directory's file. */
export const DIRECTORY_FILE = ".waypoint.toml";
const FILE_BYTES_MAX = 64 * 1024;

/** Returns the user's folder of config. */
export function userFolder({ env, home }: ConfigPlace): string {
  const { XDG_CONFIG_HOME = "" } = env;
  const base = path.isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : path.join(home, ".config");
  return path.join(base, "waypoint");
}

/** Returns the path of the user's file, which need not be there. */
export function userFile(place: ConfigPlace): string {
  return path.join(userFolder(place), "config.toml");
}

/** Returns the file of the directory one stands in, or of the nearest one above that has one. */
export function findDirectoryFile({ cwd }: ConfigPlace): string | null {
  for (let directory = cwd; directory !== null; ) {
    const file = path.join(directory, DIRECTORY_FILE);
    if (isThere(file)) return file;
    const above = path.dirname(directory);
    directory = above === directory ? null : above;
  }
  return null;
}

function isThere(file: string): boolean {
  try {
    lstatSync(file);
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads a config file; `null` where there is none.
 *
 * A directory's file may be anything that its author wished: a link, a pipe, more than fits.
 *
 * @throws CONFIG_INVALID  it is no ordinary file, too long, not UTF-8 or cannot be read.
 */
export function readConfigText(file: string, { isForeign }: { isForeign: boolean }): string | null {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  let descriptor: number;
  try {
    descriptor = openSync(file, O_RDONLY | O_NONBLOCK | (isForeign ? O_NOFOLLOW : 0));
  } catch (error) {
    // What lies where one may not look is not there.
    if (isSystemError(error, "ENOENT", "ENOTDIR") || !isThere(file)) return null;
    const reason = isSystemError(error, "ELOOP") ? "is a link" : "cannot be opened";
    throw configInvalid(`${file} ${reason}.`, { file }, error);
  }
  try {
    const { size } = fstatSync(descriptor);
    if (!fstatSync(descriptor).isFile()) throw configInvalid(`${file} is no file.`, { file });
    if (size > FILE_BYTES_MAX) {
      throw configInvalid(`${file} has more than ${FILE_BYTES_MAX / 1024} KiB.`, { file });
    }
    return decode(file, readFileSync(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw configInvalid(`${file} is not UTF-8.`, { file }, error);
  }
}

/** Returns the error for a config file that cannot be used; its text never has what the file has. */
export function configInvalid(
  message: string,
  detail: { file: string; line?: number; key?: string },
  cause?: unknown,
  hint = "",
): WaypointError {
  const whole = `${hint} Correct the file; \`waypoint config\` tells each key and where it is set.`;
  return new WaypointError("CONFIG_INVALID", message, { hint: whole.trim(), detail, cause });
}
