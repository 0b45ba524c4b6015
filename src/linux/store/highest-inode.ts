import { closeSync, openSync } from "node:fs";
import { ioctl } from "../kernel/index.ts";

const BTRFS_IOC_TREE_SEARCH = 0xd0009411;
const SEARCH_BYTES = 4096;
/** Where the fields of a search begin that are not zero. */
const OFFSETS = { minObject: 8, maxObject: 16, maxOffset: 32, maxTransaction: 48 } as const;
const MAX_TYPE_OFFSET = 60;
const ITEMS_OFFSET = 64;
const ANY = 2n ** 64n - 1n;
/** Above it the kernel numbers things of its own; inodes do not get there. */
const INODE_LIMIT = 2n ** 48n;

/**
 * Returns the highest number of an inode in a subvolume.
 *
 * btrfs counts up within a subvolume and its snapshots: what is made after a snapshot was taken has
 * a higher number than everything in it.
 */
export function highestInode(subvolumePath: string): number {
  const fd = openSync(subvolumePath, "r");
  try {
    let [low, high] = [0n, INODE_LIMIT];
    while (high - low > 1n) {
      const middle = (low + high) / 2n;
      if (hasInodeFrom(fd, middle)) low = middle;
      else high = middle;
    }
    return Number(low);
  } finally {
    closeSync(fd);
  }
}

function hasInodeFrom(fd: number, inode: bigint): boolean {
  const argument = new Uint8Array(SEARCH_BYTES);
  const view = new DataView(argument.buffer);
  view.setBigUint64(OFFSETS.minObject, inode, true);
  view.setBigUint64(OFFSETS.maxObject, INODE_LIMIT, true);
  view.setBigUint64(OFFSETS.maxOffset, ANY, true);
  view.setBigUint64(OFFSETS.maxTransaction, ANY, true);
  view.setUint32(MAX_TYPE_OFFSET, 255, true);
  view.setUint32(ITEMS_OFFSET, 1, true);
  ioctl(fd, BTRFS_IOC_TREE_SEARCH, argument);
  return view.getUint32(ITEMS_OFFSET, true) > 0;
}
