import { closeSync, constants, fstatSync } from "node:fs";
import { chmod, chown } from "node:fs/promises";
import { isSystemError, type RawPath, toBytes } from "../../base/index.ts";
import { openBelow, removeXattrOf, setXattrOf } from "../../linux/kernel/index.ts";
import { type NameAt, xattrsOf } from "../files/index.ts";
import type { Version } from "./version.ts";

const O_PATH = 0o10000000;

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
  replaced: Version["xattrs"] = {},
): Promise<void> {
  const fd = openBelow(directoryFd, toBytes(name), O_PATH | constants.O_NOFOLLOW);
  const path = `/proc/self/fd/${fd}`;
  try {
    const now = fstatSync(fd);
    // A new owner takes capabilities away, be it the same one.
    if (now.uid !== uid || now.gid !== gid) await chown(path, uid, gid);
    for (const each of Object.keys(replaced)) if (!(each in xattrs)) change(fd, each, null);
    for (const [each, value] of Object.entries(xattrs)) {
      change(fd, each, Buffer.from(value, "base64"));
    }
    await chmod(path, mode);
  } finally {
    closeSync(fd);
  }
}

/** Tells whether something has the extended attributes of a version, where it names some. */
export function hasXattrsOf(place: RawPath, { xattrs = {} }: Version): boolean {
  const now = xattrsOf(place);
  return Object.entries(xattrs).every(([name, value]) => now[name] === value);
}

/** What a filesystem does not take is left out, as where a file is copied to it. */
function change(fd: number, name: string, value: Buffer | null): void {
  try {
    if (value === null) removeXattrOf(fd, name);
    else setXattrOf(fd, name, value);
  } catch (error) {
    if (!isSystemError(error, "EOPNOTSUPP", "ENOTSUP", "EPERM", "EINVAL", "ENODATA")) throw error;
  }
}
