import type { CheckpointRow } from "../catalog/index.ts";
import type { Checkpoint, OperationOutput } from "../protocol/index.ts";
import type { EnginePorts } from "../session/index.ts";

/** Returns a checkpoint as the outside sees it. */
export function describeCheckpoint(row: CheckpointRow): Checkpoint {
  const { base: _b, net: _n, user: _u, cwd: _c, terminal: _t, ...rest } = row;
  const { kernel: _k, criu: _r, arch: _a, ...shown } = rest;
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
    diskPath: ports.store.checkpointPaths(row.id).checkpointDir,
  };
}

function summaryOf(row: CheckpointRow): string {
  // What changed since the parent is not read from the captures yet.
  return row.content === "files" ? "files only" : "";
}
