import type { FileType } from "../shared/protocol/index.ts";

const S_IFMT = 0o170000;
const TYPES: ReadonlyMap<number, FileType> = new Map([
  [0o100000, "file"],
  [0o040000, "directory"],
  [0o120000, "symlink"],
  [0o010000, "fifo"],
  [0o140000, "socket"],
  [0o020000, "character-device"],
  [0o060000, "block-device"],
]);

/** Returns the kind of file that the mode of lstat(2) tells. */
export function fileTypeOf(mode: number | bigint): FileType | undefined {
  return TYPES.get(Number(mode) & S_IFMT);
}
