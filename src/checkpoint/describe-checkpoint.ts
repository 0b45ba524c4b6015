import type { CheckpointRow, VerificationRow } from "../catalog/index.ts";
import type { Checkpoint, OperationOutput } from "../protocol/index.ts";
import { type EnginePorts, limitsOf } from "../session/index.ts";
import { readStory } from "../story/index.ts";
import { requireCaptured } from "./held-checkpoints.ts";

/** What one answer holds of the outputs of all verifications together. */
const ANSWER_OUTPUT_CHARACTERS_MAX = 2 * 1024 * 1024;

/**
 * Returns a checkpoint as the outside sees it.
 *
 * @param summary       of its changes; "" without a story.
 * @param verification  its newest one; `null` where it was never verified.
 */
export function describeCheckpoint(
  row: CheckpointRow,
  summary: string,
  verification: VerificationRow | null,
): Checkpoint {
  const { base: _b, net: _n, user: _u, cwd: _c, terminal: _t, ...rest } = row;
  const {
    binds: _i,
    hostMounts: _h,
    kernel: _k,
    criu: _r,
    arch: _a,
    heldBy: _h2,
    heldWhy: _w,
    ...described
  } = rest;
  const { shell: _s, memoryLimitBytes: _m, cpuLimit: _l, pidsLimit: _p, ...shown } = described;
  return {
    ...shown,
    verification: verification === null ? null : describeVerification(verification),
    changes: { summary: summaryOf(row, summary) },
  };
}

/** Returns checkpoints as the outside sees them, each with the summary of its story. */
export function describeCheckpoints(
  rows: readonly CheckpointRow[],
  { catalog }: EnginePorts,
): Checkpoint[] {
  const summaries = new Map(catalog.stories().map((row) => [row.checkpoint, row.summary]));
  const newest = catalog.verifications.newest();
  return rows.map((row) =>
    describeCheckpoint(row, summaries.get(row.id) ?? "", newest.get(row.id) ?? null),
  );
}

/** Returns a checkpoint with its story and the processes that its images hold. */
export async function showCheckpoint(
  wanted: CheckpointRow,
  ports: EnginePorts,
): Promise<OperationOutput<"show">> {
  const row = await requireCaptured(wanted, ports).catch(() => wanted);
  const processes =
    row.content === "full" && row.heldBy === null
      ? await ports.criu.readImageProcesses(
          ports.store.images.locate(ports.store.checkpointPaths(row.id)),
        )
      : [];
  const { checkpoint: _, changes, ...story } = await readStory(row, ports);
  const verifications = ports.catalog.verifications.of(row.id);
  return {
    ...describeCheckpoint(row, changes.summary, verifications[0] ?? null),
    verifications: withinAnswer(verifications),
    changes: { ...changes, summary: summaryOf(row, changes.summary) },
    story,
    processes: processes.map(({ pid, command }) => ({ pid, command })),
    binds: [...row.binds],
    host: { kernel: row.kernel, criu: row.criu, arch: row.arch },
    limits: limitsOf(row),
    diskPath: ports.store.checkpointPaths(row.id).checkpointDir,
  };
}

function describeVerification({ checkpoint: _, outputBytes: _b, ...shown }: VerificationRow) {
  return shown;
}

/** Keeps less of each output where many verifications would not fit into one message. */
function withinAnswer(rows: readonly VerificationRow[]) {
  const charactersMax = Math.floor(ANSWER_OUTPUT_CHARACTERS_MAX / Math.max(1, rows.length));
  return rows.map(({ checkpoint: _, output, ...shown }) => ({
    ...shown,
    output: output.slice(-charactersMax),
  }));
}

/** What it is a person must know of a checkpoint goes before what changed. */
function summaryOf(row: CheckpointRow, changes: string): string {
  return row.heldWhy === null ? changes : "held in memory: it cannot be dumped";
}
