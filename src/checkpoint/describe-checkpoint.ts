import type { CheckpointRow, StoryRow, TimelineRow } from "../catalog/index.ts";
import type { Checkpoint, Intent, OperationOutput } from "../protocol/index.ts";
import { type EnginePorts, limitsOf } from "../session/index.ts";
import { readStory } from "../story/index.ts";
import { requireCaptured } from "./held-checkpoints.ts";

/** What is told of a checkpoint's story beside the checkpoint itself. */
type ToldInBrief = Pick<StoryRow, "summary" | "intent" | "intentSource">;

/** Returns a checkpoint as the outside sees it; `story` is what the catalog has of it, if any. */
export function describeCheckpoint(row: TimelineRow, story: ToldInBrief | undefined): Checkpoint {
  const { id, session, sessionName, parent, name, intent, trigger, content } = row;
  const { createdAt, unchangedSince, pauseMs, totalMs, memoryBytes, stage } = row;
  return {
    ...{ id, session, sessionName, parent, name, intent, trigger, content },
    ...{ createdAt, unchangedSince, pauseMs, totalMs, memoryBytes, stage },
    derivedIntent: derivedIntentOf(row, story),
    verification: null,
    changes: { summary: summaryOf(row, story?.summary ?? "") },
  };
}

/** Returns checkpoints as the outside sees them, each with its story in brief. */
export function describeCheckpoints(
  rows: readonly TimelineRow[],
  { catalog }: EnginePorts,
): Checkpoint[] {
  const stories = new Map(catalog.stories.all().map((row) => [row.checkpoint, row]));
  return rows.map((row) => describeCheckpoint(row, stories.get(row.id)));
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
  return {
    ...describeCheckpoint(row, inBrief(changes.summary, story.intent)),
    changes: { ...changes, summary: summaryOf(row, changes.summary) },
    story,
    processes: processes.map(({ pid, command }) => ({ pid, command })),
    binds: [...row.binds],
    host: { kernel: row.kernel, criu: row.criu, arch: row.arch },
    limits: limitsOf(row),
    diskPath: ports.store.checkpointPaths(row.id).checkpointDir,
  };
}

function inBrief(summary: string, intent: Intent | null): ToldInBrief {
  return { summary, intent: intent?.text ?? null, intentSource: intent?.source ?? null };
}

/** What somebody said needs no other telling. */
function derivedIntentOf(row: TimelineRow, story: ToldInBrief | undefined): Intent | null {
  const { intent: text = null, intentSource: source = null } = story ?? {};
  const isDerived = row.intent === null && source !== "given";
  return isDerived && text !== null && source !== null ? { text, source } : null;
}

/** What it is a person must know of a checkpoint goes before what changed. */
function summaryOf(row: TimelineRow, changes: string): string {
  return row.heldWhy === null ? changes : "held in memory: it cannot be dumped";
}
