/** One instance of a session: a row from before it is made until all of it is gone. */
export interface InstanceRow {
  id: string;
  session: string;
  pid: number | null;
  startTicks: number | null;
  address: string | null;
  /** Checkpoint from which its memory is still being filled; `null` when it is whole. */
  fillingFrom: string | null;
  /** Why its processes were killed at once, from before the first of them was; `null` of all others. */
  endedFor: "removed" | "stopped" | null;
  /** What it had come up against when it ended; `null` while it lives, or without limits. */
  memoryHits: number | null;
  pidsHits: number | null;
  cpuHeldBackMs: number | null;
}
