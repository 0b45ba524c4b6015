import { closeSync, constants, fstatSync } from "node:fs";
import { chmod, chown } from "node:fs/promises";
import { fdPath, isSystemError, type RawPath, toBytes } from "../../base/index.ts";
import { type NameAt, xattrsOf } from "../files/index.ts";
import type { FileCalls, ReadingCalls } from "../ports/index.ts";
import type { Version } from "./version.ts";

const O_PATH = 0o10000000;
const PERMISSIONS = 0o7777;

/** Until it has its own rights, nobody else may use a directory. */
export const NEW_DIRECTORY_MODE = 0o700;

/**
 * Gives what a name stands for a mode, an owner and, where they are given, extended attributes; a
 * link is not followed.
 *
 * @param replaced  attributes that go where they are not among the new ones.
 */
export async function giveRights(
  { directoryFd, name }: NameAt,
  { mode, uid, gid, xattrs = {} }: Pick<Version, "mode" | "uid" | "gid" | "xattrs">,
  calls: FileCalls,
  replaced: Version["xattrs"] = {},
): Promise<void> {
  const fd = calls.openBelow(directoryFd, toBytes(name), O_PATH | constants.O_NOFOLLOW);
  const path = fdPath(fd);
  try {
    const now = fstatSync(fd);
    const isOwned = now.uid === uid && now.gid === gid;
    const changesXattrs = Object.keys({ ...xattrs, ...replaced }).length > 0;
    if (isOwned && !changesXattrs && (now.mode & PERMISSIONS) === (mode & PERMISSIONS)) return;
    // A new owner takes capabilities away, be it the same one.
    if (!isOwned) await chown(path, uid, gid);
    for (const each of Object.keys(replaced)) if (!(each in xattrs)) change(fd, each, null, calls);
    for (const [each, value] of Object.entries(xattrs)) {
      change(fd, each, Buffer.from(value, "base64"), calls);
    }
    await chmod(path, mode);
  } finally {
    closeSync(fd);
  }
}

/** Tells whether something has the extended attributes of a version, where it names some. */
export function hasXattrsOf(
  place: RawPath,
  { xattrs = {} }: Version,
  calls: ReadingCalls,
): boolean {
  const now = xattrsOf(place, calls);
  return Object.entries(xattrs).every(([name, value]) => now[name] === value);
}

/** What a filesystem does not take is left out, as where a file is copied to it. */
function change(fd: number, name: string, value: Buffer | null, calls: FileCalls): void {
  try {
    if (value === null) calls.removeXattrOf(fd, name);
    else calls.setXattrOf(fd, name, value);
  } catch (error) {
    if (!isSystemError(error, "EOPNOTSUPP", "ENOTSUP", "EPERM", "EINVAL", "ENODATA")) throw error;
  }
}
