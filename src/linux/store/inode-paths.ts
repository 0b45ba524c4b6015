import { closeSync, openSync } from "node:fs";
import { isSystemError } from "../../base/index.ts";
import { addressOf, ioctl } from "../kernel/index.ts";

const BTRFS_IOC_INO_PATHS = 0xc0389423;
const ARGUMENT_BYTES = 56;
const CONTAINER_HEADER_BYTES = 16;
const CONTAINER_BYTES_MIN = 4 * 1024;
const CONTAINER_BYTES_MAX = 64 * 1024;

/**
 * Returns the names of an inode in its subvolume, each byte as one character ("latin1"); none where there
 * is no such inode.
 *
 * Names beyond 64 KiB of them are left out.
 */
export function inodePaths(subvolumePath: string, inode: number): string[] {
  const fd = openSync(subvolumePath, "r");
  try {
    for (let sizeBytes = CONTAINER_BYTES_MIN; ; sizeBytes = CONTAINER_BYTES_MAX) {
      const container = Buffer.alloc(sizeBytes);
      const argument = new Uint8Array(ARGUMENT_BYTES);
      const view = new DataView(argument.buffer);
      view.setBigUint64(0, BigInt(inode), true);
      view.setBigUint64(8, BigInt(sizeBytes), true);
      view.setBigUint64(48, addressOf(container), true);
      ioctl(fd, BTRFS_IOC_INO_PATHS, argument);
      const missedCount = container.readUInt32LE(12);
      if (missedCount === 0 || sizeBytes === CONTAINER_BYTES_MAX) return readPaths(container);
    }
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** The kernel writes offsets, from the end of the header on, of texts that end in a zero. */
function readPaths(container: Buffer): string[] {
  const count = container.readUInt32LE(8);
  return Array.from({ length: count }, (_, index) => {
    const offset = Number(container.readBigUInt64LE(CONTAINER_HEADER_BYTES + index * 8));
    const start = CONTAINER_HEADER_BYTES + offset;
    return container.toString("latin1", start, container.indexOf(0, start));
  });
}
