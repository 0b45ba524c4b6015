import { closeSync, constants } from "node:fs";
import { isSystemError, type RawPath, toBytes, toText } from "../../../base/index.ts";
import { WaypointError } from "../../../shared/errors/index.ts";
import type { FileCalls } from "../../ports/index.ts";

const O_PATH = 0o10000000;

/** The whole tree of files that some process sees: the client's, or that of a session. */
export class Root implements Disposable {
  readonly fd: number;
  readonly #calls: FileCalls;

  private constructor(fd: number, calls: FileCalls) {
    this.fd = fd;
    this.#calls = calls;
  }

  /**
   * Opens the root of a process, with everything that is mounted in it.
   *
   * @throws CANCELLED  it has ended.
   */
  static of(pid: number, calls: FileCalls): Root {
    try {
      return new Root(calls.openRootOf(pid), calls);
    } catch (cause) {
      throw new WaypointError("CANCELLED", "Whoever the files belong to has ended.", { cause });
    }
  }

  /**
   * Opens a directory as a place to look up and make names in; links are followed inside the root.
   *
   * @returns `null` where there is no directory.
   */
  directory(rawPath: RawPath): OpenDirectory | null {
    try {
      return new OpenDirectory(
        this.#calls.openInside(this.fd, toBytes(rawPath), O_PATH | constants.O_DIRECTORY),
      );
    } catch (error) {
      if (isSystemError(error, "ENOENT", "ENOTDIR", "ELOOP")) return null;
      throw error;
    }
  }

  /** Opens a regular file for reading; `null` where there is none. */
  file(rawPath: RawPath): number | null {
    try {
      return this.#calls.openInside(
        this.fd,
        toBytes(rawPath),
        constants.O_RDONLY | constants.O_NONBLOCK,
      );
    } catch (error) {
      if (isSystemError(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES")) return null;
      throw error;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}

/** A directory that stays the same one, whatever is renamed meanwhile. */
export class OpenDirectory implements Disposable {
  readonly fd: number;

  constructor(fd: number) {
    this.fd = fd;
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}

/** A path in two parts: the directory, and the name in it; "." where it is a directory as such. */
export function splitPath(rawPath: RawPath): { directory: RawPath; name: RawPath } {
  const at = rawPath.lastIndexOf("/");
  const name = rawPath.slice(at + 1);
  if (["", ".", ".."].includes(name)) return { directory: rawPath, name: "." };
  return { directory: at === 0 ? "/" : rawPath.slice(0, at), name };
}

/** @throws FILE_NOT_FOUND */
export function requireDirectory(root: Root, rawPath: RawPath, whose: string): OpenDirectory {
  const directory = root.directory(rawPath);
  if (directory !== null) return directory;
  throw new WaypointError("FILE_NOT_FOUND", `There is no directory ${toText(rawPath)} ${whose}.`, {
    hint: "Directories on the way to what is copied must be there already.",
  });
}
