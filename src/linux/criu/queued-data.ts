import { readFileSync } from "node:fs";
import { countsSockets } from "../../formats/proc/index.ts";

const STATE_LISTEN = "0A";
/** Tables of connections, each with what counts them, which is read a hundred times as fast. */
const TABLES = [
  ["sockstat", "tcp"],
  ["sockstat6", "tcp6"],
] as const;

/**
 * Tells whether a TCP connection in a process's network has data on its way.
 *
 * Such data is sent by timers of the kernel, also while the tasks stand still: between CRIU's looks
 * at the two ends some of it would be doubled or lost.
 */
export function hasQueuedData(pid: number): boolean {
  const read = (name: string) => readFileSync(`/proc/${pid}/net/${name}`, "utf8");
  return TABLES.some(([counts, table]) => {
    try {
      return countsSockets(read(counts), ["TCP"]) && hasQueue(read(table));
    } catch {
      // A kernel without IPv6, or a process that has ended: the dump will say so.
      return false;
    }
  });
}

/** Reads a table of `/proc/net/tcp`; a listener's queue holds connections. */
export function hasQueue(table: string): boolean {
  return table
    .split("\n")
    .slice(1)
    .some((line) => {
      const [, , , state = STATE_LISTEN, queues = ""] = line.trim().split(/\s+/);
      return state !== STATE_LISTEN && /^0*[1-9A-F]/.test(queues);
    });
}
