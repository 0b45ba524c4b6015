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

/** A name in an open directory. */
interface NameIn {
  directoryFd: number;
  name: Buffer;
}

/** The same for files that are written: by what is open, and by names in open directories. */
export interface FileCalls extends ReadingCalls {
  /** Opens the root of a process, with everything that is mounted in it. */
  openRootOf(hostPid: number): number;
  /** Opens a path as a process with the root `rootFd` would. */
  openInside(rootFd: number, path: Buffer, flags: number): number;
  /** Opens a path below a directory, with no link anywhere on the way. */
  openBelow(directoryFd: number, path: Buffer, flags: number): number;
  /** Gives an open file one more name. */
  linkOpenFile(fd: number, directoryFd: number, name: Buffer): void;
  makeFifo(directoryFd: number, name: Buffer): void;
  /** Renames where nothing is (else EEXIST), or puts each in the other's place, in one step. */
  renameSafely(from: NameIn, to: NameIn, how: "no-replace" | "exchange"): void;
  setXattrOf(fd: number, name: string, value: Buffer): void;
  removeXattrOf(fd: number, name: string): void;
  /** Returns the next stretch that is no hole, from `offset` on; `null` after the last. */
  nextData(fd: number, offset: number): { start: number; end: number } | null;
  /** Brings all of the filesystem of an open file to the disk. */
  syncFilesystem(fd: number): Promise<void>;
}
