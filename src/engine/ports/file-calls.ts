/** What tells of files beyond what Node's own functions do; paths are bytes, links not followed. */
export interface ReadingCalls {
  /** Returns the names of a file's extended attributes. */
  listXattrs(path: Buffer): string[];
  /** Returns the value of an extended attribute, or `null` without it. */
  readXattr(path: Buffer, name: string): Buffer | null;
  /** Returns what tells a file from all others of its filesystem; `null` where it has nothing. */
  fileHandle(path: Buffer): { type: number; bytes: Buffer } | null;
  /** Opens a directory without what is mounted in it; close the descriptor. */
  openWithoutMounts(directory: string): number;
}
