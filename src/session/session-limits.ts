import { WaypointError } from "../errors/index.ts";
import type { LimitsHit, OperationParsedInput, SessionLimits } from "../protocol/index.ts";
import type { StreamPeer } from "./stream-peer.ts";

/** With less, not even init and a shell start. */
const MEMORY_BYTES_MIN = 8 * 1024 * 1024;
const PIDS_MIN = 8;
const CPUS_MIN = 0.01;

/** What a row keeps of a session's limits. */
interface LimitColumns {
  memoryLimitBytes: number | null;
  cpuLimit: number | null;
  pidsLimit: number | null;
}

/** Returns a row's limits as the outside sees them. */
export function limitsOf(row: LimitColumns): SessionLimits {
  return { memoryBytes: row.memoryLimitBytes, cpus: row.cpuLimit, pids: row.pidsLimit };
}

/** @throws USAGE_INVALID  a session could not even start within the limits. */
export function requireUsableLimits(input: OperationParsedInput<"new">): void {
  const { memoryBytes, cpus, pids } = input;
  if (memoryBytes !== undefined && memoryBytes < MEMORY_BYTES_MIN) {
    throw tooSmall(`${memoryBytes} bytes of memory`, "8M of memory");
  }
  if (pids !== undefined && pids < PIDS_MIN) throw tooSmall(`${pids} processes`, "8 processes");
  if (cpus !== undefined && cpus < CPUS_MIN) {
    throw tooSmall(`${cpus} of a processor`, "0.01 of a processor");
  }
}

function tooSmall(what: string, least: string): WaypointError {
  return new WaypointError("USAGE_INVALID", `A session cannot start with ${what}.`, {
    hint: `Give it at least ${least}; useful work needs more.`,
  });
}

/** Tells the caller of a command what the session has come up against while it ran. */
export function tellHits(
  before: LimitsHit | null,
  after: LimitsHit | null,
  limits: LimitColumns,
  peer: StreamPeer,
): void {
  if (before === null || after === null) return;
  if (after.memory > before.memory) {
    const mebibytes = Math.round((limits.memoryLimitBytes ?? 0) / 1024 / 1024);
    peer.notice(
      `the session reached its memory limit of ${mebibytes} MiB: the kernel ended a process`,
    );
  }
  if (after.pids > before.pids) {
    peer.notice(
      `the session reached its limit of ${limits.pidsLimit} processes: one could not be started`,
    );
  }
}
