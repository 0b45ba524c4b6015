import { type BigIntStats, closeSync, constants, lstatSync } from "node:fs";
import { fdPath, isSystemError, type RawPath, toBytes } from "../../base/index.ts";
import type { FileCalls } from "../ports/index.ts";
import { type Version, versionOf } from "./version.ts";

const O_PATH = 0o10000000;

/** A path below the target's root, without a slash at its start: "srv/app/x". */
export type TargetPath = RawPath;

/** What is at a path of a target, good until the callback that got it has ended. */
export interface Seen {
  /** `null` for nothing. */
  version: Version | null;
  status: BigIntStats | null;
  /** A link, or something that is no directory, is on the way: nothing may be written here. */
  isBlocked: boolean;
}

/**
 * The tree of files that is written to: a directory of the machine, or a session's root.
 *
 * Every path is looked up below the open root, without following a link anywhere on the way.
 */
export class Target {
  readonly rootFd: number;
  readonly calls: FileCalls;

  /** @param rootFd  an open directory; it belongs to the caller. */
  constructor(rootFd: number, calls: FileCalls) {
    this.rootFd = rootFd;
    this.calls = calls;
  }

  /** Opens a directory as a place for names, or `null` where there is none. @throws ELOOP | ENOTDIR */
  openDirectory(path: TargetPath): (Disposable & { fd: number }) | null {
    try {
      const flags = O_PATH | constants.O_DIRECTORY;
      const fd = this.calls.openBelow(this.rootFd, toBytes(path === "" ? "." : path), flags);
      return { fd, [Symbol.dispose]: () => closeSync(fd) };
    } catch (error) {
      if (isSystemError(error, "ENOENT")) return null;
      throw error;
    }
  }

  /** Opens a directory that is reached without a link, or `null` where there is none. */
  findDirectory(path: TargetPath): (Disposable & { fd: number }) | null {
    try {
      return this.openDirectory(path);
    } catch (error) {
      if (isSystemError(error, "ENOTDIR", "ELOOP")) return null;
      throw error;
    }
  }

  /** Looks at a path; what is seen can be read while `use` runs. */
  async look<T>(path: TargetPath, use: (seen: Seen) => Promise<T>): Promise<T> {
    const nothing = { version: null, status: null };
    try {
      using parent = this.openDirectory(parentOf(path));
      if (parent === null) return await use({ ...nothing, isBlocked: false });
      const hostPath = `${fdPath(parent.fd)}/${path === "" ? "." : nameOf(path)}`;
      const status = statusOf(hostPath);
      const version = status === null ? null : versionOf(status, hostPath);
      return await use({ version, status, isBlocked: false });
    } catch (error) {
      if (!isSystemError(error, "ELOOP", "ENOTDIR")) throw error;
      return await use({ ...nothing, isBlocked: true });
    }
  }
}

/** Returns what lstat says of a path, `null` for nothing. */
export function statusOf(hostPath: RawPath): BigIntStats | null {
  return lstatSync(toBytes(hostPath), { bigint: true, throwIfNoEntry: false }) ?? null;
}

/** Returns the directory that a path is in; the root's is the root. */
export function parentOf(path: TargetPath): TargetPath {
  const at = path.lastIndexOf("/");
  return at === -1 ? "" : path.slice(0, at);
}

/** Returns the last name of a path. */
export function nameOf(path: TargetPath): RawPath {
  return path.slice(path.lastIndexOf("/") + 1);
}
