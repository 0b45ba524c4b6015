import { statfsSync } from "node:fs";

/** File system magics, as statfs tells them. */
const TMPFS_MAGIC = 0x01021994;
const RAMFS_MAGIC = 0x858458f6;

/** Tells whether a directory lies in memory, so that nothing in it survives the machine's end. */
export function isInMemory(directory: string): boolean {
  const type = Number(statfsSync(directory).type) >>> 0;
  return type === TMPFS_MAGIC || type === RAMFS_MAGIC;
}
