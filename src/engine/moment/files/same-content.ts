import { closeSync, openSync, readSync } from "node:fs";
import { type RawPath, toBytes } from "../../../base/index.ts";
import type { ReadingCalls } from "../../ports/index.ts";
import type { Pace } from "../pace.ts";
import type { TreeEntry } from "./overlay-tree.ts";

/** A stretch of a file's bytes. */
interface ByteRange {
  offset: number;
  size: number;
}

type XattrCalls = Pick<ReadingCalls, "listXattrs" | "readXattr">;

/** More than this is not read only in order to find that it was written again unchanged. */
const COMPARED_BYTES_MAX = 32 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
const OVERLAY_XATTR = /^(trusted|user)\.overlay\./;

/**
 * Tells whether two files of the same size hold the same bytes in `ranges`.
 *
 * @returns `null` when that is too much to be read.
 */
export async function haveSameBytes(
  one: TreeEntry,
  other: TreeEntry,
  ranges: readonly ByteRange[],
  pace: Pace,
): Promise<boolean | null> {
  const inside = ranges.map(({ offset, size }) => ({
    offset,
    size: Math.max(0, Math.min(size, one.sizeBytes - offset)),
  }));
  const totalBytes = inside.reduce((sum, { size }) => sum + size, 0);
  if (totalBytes > COMPARED_BYTES_MAX) return null;
  const fds = [one, other].map(({ hostPath }) => openSync(toBytes(hostPath), "r"));
  const [oneFd = -1, otherFd = -1] = fds;
  try {
    for (const range of inside) {
      if (!(await isRangeSame(oneFd, otherFd, range, pace))) return false;
    }
    return true;
  } finally {
    for (const fd of fds) closeSync(fd);
  }
}

async function isRangeSame(
  oneFd: number,
  otherFd: number,
  range: ByteRange,
  pace: Pace,
): Promise<boolean> {
  const one = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, range.size));
  const other = Buffer.allocUnsafe(one.length);
  const end = range.offset + range.size;
  for (let offset = range.offset; offset < end; offset += one.length) {
    const size = Math.min(one.length, end - offset);
    const oneBytes = readSync(oneFd, one, 0, size, offset);
    const otherBytes = readSync(otherFd, other, 0, size, offset);
    if (oneBytes !== otherBytes) return false;
    if (!one.subarray(0, oneBytes).equals(other.subarray(0, otherBytes))) return false;
    await pace.yieldOften();
  }
  return true;
}

/** Tells whether two files have the same extended attributes, but for the overlay's own. */
export function haveSameAttributes(
  one: Pick<TreeEntry, "hostPath">,
  other: Pick<TreeEntry, "hostPath">,
  calls: XattrCalls,
): boolean {
  return attributesOf(one.hostPath, calls) === attributesOf(other.hostPath, calls);
}

function attributesOf(hostPath: RawPath, { listXattrs, readXattr }: XattrCalls): string {
  const bytes = toBytes(hostPath);
  const names = listXattrs(bytes).filter((name) => !OVERLAY_XATTR.test(name));
  const pairs = names.map((name) => [name, readXattr(bytes, name)?.toString("base64") ?? ""]);
  return JSON.stringify(pairs.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)));
}
