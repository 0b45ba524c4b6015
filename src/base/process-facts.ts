/** A process as the images of a dump tell it, or /proc of a live session; zombies are none. */
export interface ProcessFacts {
  pid: number;
  parentPid: number;
  /** Whether a terminal is its own: it is the first program there. */
  leadsTerminal: boolean;
  /** Its command line, or its name in brackets. */
  command: string;
  /** Random bytes that the kernel gave its program, in hex: with the pid it tells it from any other. */
  programId: string;
  cwd: string | null;
  uid: number;
  /** What it has of its own in memory; pages that are only in files do not count. */
  memoryBytes: number;
  /** Its program and where that begins in its memory. */
  program: { path: string; address: number } | null;
  /** What it was started with, "NAME=value"; read only of children of the first process. */
  startEnvironment: string[];
}
