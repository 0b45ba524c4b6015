import type { CheckpointRow } from "../catalog/index.ts";
import type { Checkpoint, OperationOutput } from "../protocol/index.ts";
import { type EnginePorts, limitsOf } from "../session/index.ts";

/** Returns a checkpoint as the outside sees it. */
export function describeCheckpoint(row: CheckpointRow): Checkpoint {
  const { base: _b, net: _n, user: _u, cwd: _c, terminal: _t, ...rest } = row;
  const { kernel: _k, criu: _r, arch: _a, shell: _s, ...described } = rest;
  const { memoryLimitBytes: _m, cpuLimit: _l, pidsLimit: _p, ...shown } = described;
  return { ...shown, verification: null, changes: { summary: summaryOf(row) } };
}

/** Returns a checkpoint with the processes that its images hold. */
export async function showCheckpoint(
  row: CheckpointRow,
  ports: EnginePorts,
): Promise<OperationOutput<"show">> {
  const processes =
    row.content === "full"
      ? await ports.criu.readImageProcesses(
          ports.store.images.locate(ports.store.checkpointPaths(row.id)),
        )
      : [];
  return {
    ...describeCheckpoint(row),
    processes: processes.map(({ pid, command }) => ({ pid, command })),
    host: { kernel: row.kernel, criu: row.criu, arch: row.arch },
    limits: limitsOf(row),
    diskPath: ports.store.checkpointPaths(row.id).checkpointDir,
  };
}

function summaryOf(row: CheckpointRow): string {
  if (row.content === "files") return "files only";
  return `${Math.round(row.memoryBytes / 1024 / 1024)} MiB of memory`;
}
