import { constants } from "node:os";
import { noProcessLeft } from "../../base/index.ts";
import type { CgroupHits } from "../../linux/limits/index.ts";
import type { SessionRow } from "../../portable/model/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import {
  type LimitsHit,
  type OperationParsedInput,
  PIDS_MIN,
  type SessionLimits,
} from "../../shared/protocol/index.ts";
import type { Engine, StreamClient } from "../ports/index.ts";

const { EAGAIN } = constants.errno;

/** With less, not even init and a shell start. */
const MEBIBYTE = 1024 * 1024;
const MEMORY_BYTES_MIN = 8 * MEBIBYTE;
const CPUS_MIN = 0.01;
const DISK_BYTES_MIN = 16 * MEBIBYTE;
/** Whoever runs a command is told of a shorter wait only by `limitsHit`. */
const HELD_BACK_TOLD_MS = 1_000;

/** What a row keeps of a session's limits. */
interface LimitColumns {
  memoryLimitBytes: number | null;
  cpuLimit: number | null;
  pidsLimit: number | null;
  diskLimitBytes: number | null;
}

/** Returns a row's limits as the outside sees them. */
export function limitsOf(row: LimitColumns): SessionLimits {
  const { memoryLimitBytes: memoryBytes, diskLimitBytes: diskBytes } = row;
  return { memoryBytes, cpus: row.cpuLimit, pids: row.pidsLimit, diskBytes };
}

/** @throws USAGE_INVALID  a session could not even start within the limits. */
export function requireUsableLimits(
  input: OperationParsedInput<"new">,
  { shares }: { shares: { isEnforced: boolean } },
): void {
  const { memoryBytes, cpus, pids, diskBytes } = input;
  if (memoryBytes !== undefined && memoryBytes < MEMORY_BYTES_MIN) {
    throw tooSmall(`${inWords(memoryBytes)} of memory`, "8M of memory");
  }
  requireUsablePids(pids);
  if (cpus !== undefined && cpus < CPUS_MIN) {
    throw tooSmall(`${cpus} of a processor`, "0.01 of a processor");
  }
  if (diskBytes === undefined) return;
  if (diskBytes < DISK_BYTES_MIN) throw tooSmall(`${inWords(diskBytes)} of disk`, "16M of disk");
  if (shares.isEnforced) return;
  throw new WaypointError("HOST_UNSUPPORTED", "This store cannot hold a session to its share.", {
    hint: "That takes Linux 6.7, and a state directory that is not on btrfs itself. Leave out --disk.",
  });
}

/** Of what is too small: it has few bytes, or few MiB. */
function inWords(bytes: number): string {
  return bytes % MEBIBYTE === 0 ? `${bytes / MEBIBYTE} MiB` : `${bytes} bytes`;
}

/** @throws USAGE_INVALID  a session could not even start with so few. */
export function requireUsablePids(pids: number | null | undefined): void {
  if (pids == null || pids >= PIDS_MIN) return;
  throw tooSmall(`${pids} processes`, `${PIDS_MIN} processes`);
}

/** The error of a session whose limit is too small for it to start. */
export function tooSmall(what: string, least: string, cause?: unknown): WaypointError {
  return new WaypointError("USAGE_INVALID", `A session cannot start with ${what}.`, {
    hint: `Give it at least ${least}; useful work needs more.`,
    cause,
  });
}

/** Keeps what an instance has come up against, before its groups are removed. */
export function noteHits(instanceId: string, engine: Engine): void {
  const hits = engine.limits.hits(instanceId);
  if (hits === null) return;
  const { memory, pids, cpuHeldBackMs } = hits;
  const row = { memoryHits: memory, pidsHits: pids, cpuHeldBackMs };
  engine.catalog.updateInstance(instanceId, row);
}

/** Returns what a session has come up against: now, or until it ended. */
export function hitsOf(session: SessionRow, engine: Engine): LimitsHit | null {
  const instanceId = engine.live.get(session.id)?.instanceId ?? session.instance;
  return instanceId === null || !isLimited(session) ? null : hitsOfInstance(instanceId, engine);
}

/** Tells whether a session has any limit. */
export function isLimited(row: LimitColumns): boolean {
  return [row.memoryLimitBytes, row.cpuLimit, row.pidsLimit].some((max) => max !== null);
}

/** Returns what an instance has come up against: now, or until it ended. */
export function hitsOfInstance(instanceId: string, engine: Engine): LimitsHit | null {
  const hits = engine.limits.hits(instanceId);
  if (hits !== null) return hits;
  const row = engine.catalog.instance(instanceId);
  if (row === undefined || row.memoryHits === null) return null;
  const { memoryHits: memory, pidsHits, cpuHeldBackMs } = row;
  return { memory, pids: pidsHits ?? 0, cpuHeldBackMs: cpuHeldBackMs ?? 0 };
}

/** Returns that a session ended at its memory limit, to go behind "ended"; else nothing. */
export function endAtLimit(
  before: LimitsHit | null,
  after: LimitsHit | null,
  { memoryLimitBytes }: LimitColumns,
): string {
  if (after === null || memoryLimitBytes === null) return "";
  return after.memory > (before?.memory ?? 0)
    ? `: out of memory (limit ${mebibytes(memoryLimitBytes)})`
    : "";
}

/** Says so where a session ended under a command because its memory was used up. */
export function withEndReason(
  error: unknown,
  before: LimitsHit | null,
  { session, instanceId }: { session: SessionRow; instanceId: string },
  engine: Engine,
): unknown {
  if (!hasCode(error, "SESSION_ENDED")) return error;
  const why = endAtLimit(before, hitsOfInstance(instanceId, engine), session);
  if (why === "") return error;
  return new WaypointError("SESSION_ENDED", `Session ${session.name} ended${why}.`, {
    hint: `\`waypoint start ${session.name}\` starts it again.`,
    cause: error,
  });
}

/** Says so where a session's init could start no process: whose limit that was, the kernel counts. */
export function withSpawnReason(
  error: unknown,
  { name, pidsLimit }: SessionRow,
  { before, after }: { before: CgroupHits | null; after: CgroupHits | null },
): unknown {
  if (!hasCode(error, "TOOL_FAILED") || error.detail["errno"] !== EAGAIN) return error;
  const isOwnLimit = (after?.pids ?? 0) > (before?.pids ?? 0);
  if (pidsLimit === null || !isOwnLimit) return noProcessLeft(error);
  return new WaypointError(
    "PROCESSES_FULL",
    `Session ${name} can start no further process: it may have ${pidsLimit}.`,
    { hint: `\`waypoint ps ${name}\` lists them; end some, then try again.`, cause: error },
  );
}

/** Tells the caller of a command what the session has come up against while it ran. */
export function tellHits(
  before: LimitsHit | null,
  after: LimitsHit | null,
  limits: LimitColumns,
  client: StreamClient,
): void {
  if (before === null || after === null) return;
  if (after.memory > before.memory) {
    const limit = mebibytes(limits.memoryLimitBytes ?? 0);
    client.notice(`the session reached its memory limit of ${limit}: the kernel ended a process`);
  }
  if (after.pids > before.pids) {
    client.notice(
      `the session reached its limit of ${limits.pidsLimit} processes: one could not be started`,
    );
  }
  const heldBackMs = after.cpuHeldBackMs - before.cpuHeldBackMs;
  if (heldBackMs >= HELD_BACK_TOLD_MS) {
    client.notice(
      `the session reached its limit of ${limits.cpuLimit} processors: its processes had to wait, ${(heldBackMs / 1000).toFixed(1)} s in all`,
    );
  }
}

/** Returns a size as people write limits. */
export function mebibytes(sizeBytes: number): string {
  return `${Math.round((sizeBytes / 1024 / 1024) * 10) / 10} MiB`;
}
