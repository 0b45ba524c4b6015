import { closeSync, lstatSync, openSync, readdirSync } from "node:fs";
import path from "node:path";
import { ioctl } from "../kernel/index.ts";
import type { FilesState } from "./btrfs-ioctl.ts";

// Numbers and layouts from <linux/btrfs.h> and <linux/btrfs_tree.h>; docs/notes/btrfs has the source.
const BTRFS_IOC_TREE_SEARCH = 0xd0009411;
const SEARCH_BYTES = 4096;
const ITEMS_START = 104;
const ITEM_HEADER_BYTES = 32;
const INODE_ITEM = 1;
/** Above it the kernel numbers things of its own; inodes do not get there. */
const INODE_LIMIT = 2n ** 48n;
const ANY = 2n ** 64n - 1n;
/** The clock that inodes are stamped with goes in steps of up to ten milliseconds. */
const CLOCK_STEP_MS = 10;

/**
 * Tells whether an inode of a subvolume was changed after a state of it, but for those to ignore.
 *
 * The kernel passes over all that was not touched since, so the time follows what was. What was only
 * read, or written out late, is touched as well, but its time of change is an old one. What is not
 * committed yet is not seen.
 */
export function hasChangedInode(
  subvolumePath: string,
  { transaction, changedAtMs }: FilesState,
  ignored: ReadonlySet<bigint>,
): boolean {
  const sinceMs = changedAtMs - CLOCK_STEP_MS;
  const isChange = (each: TouchedInode) =>
    each.transaction > transaction && each.changedAtMs >= sinceMs && !ignored.has(each.inode);
  const fd = openSync(subvolumePath, "r");
  try {
    for (let from = 0n; from < INODE_LIMIT; ) {
      const inodes = touchedItems(fd, from, transaction + 1n);
      if (inodes.some(isChange)) return true;
      const last = inodes.at(-1);
      if (last === undefined) return false;
      from = last.inode + 1n;
    }
    return false;
  } finally {
    closeSync(fd);
  }
}

/** Returns the inode numbers of a directory and of all that is below it; none where it is not. */
export function inodesBelow(directory: string): Set<bigint> {
  const found = new Set<bigint>();
  const waiting = [directory];
  for (const each of waiting) {
    const stats = lstatSync(each, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) continue;
    found.add(stats.ino);
    if (stats.isDirectory()) {
      for (const name of readdirSync(each)) waiting.push(path.join(each, name));
    }
  }
  return found;
}

interface TouchedInode extends FilesState {
  inode: bigint;
}

/** Items of blocks that were touched: of each inode its state, of anything else transaction 0. */
function touchedItems(fd: number, fromInode: bigint, fromTransaction: bigint): TouchedInode[] {
  const argument = new Uint8Array(SEARCH_BYTES);
  const view = new DataView(argument.buffer);
  view.setBigUint64(8, fromInode, true);
  view.setBigUint64(16, INODE_LIMIT, true);
  view.setBigUint64(32, ANY, true);
  view.setBigUint64(40, fromTransaction, true);
  view.setBigUint64(48, ANY, true);
  view.setUint32(60, 255, true);
  view.setUint32(64, 0xffff_ffff, true);
  ioctl(fd, BTRFS_IOC_TREE_SEARCH, argument);
  const items: TouchedInode[] = [];
  let at = ITEMS_START;
  for (let count = view.getUint32(64, true); count > 0; count -= 1) {
    const inode = view.getBigUint64(at + 8, true);
    const type = view.getUint32(at + 24, true);
    const bytes = view.getUint32(at + 28, true);
    at += ITEM_HEADER_BYTES;
    if (type === INODE_ITEM && bytes > 0) items.push({ inode, ...readState(view, at) });
    else items.push({ inode, transaction: 0n, changedAtMs: 0 });
    at += bytes;
  }
  return items;
}

function readState(view: DataView, at: number): FilesState {
  const seconds = Number(view.getBigUint64(at + 124, true));
  return {
    transaction: view.getBigUint64(at + 8, true),
    changedAtMs: seconds * 1000 + view.getUint32(at + 132, true) / 1e6,
  };
}
