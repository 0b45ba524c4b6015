import type { ImageProcess } from "../../linux/criu/index.ts";
import type { VerificationRow } from "../../portable/catalog/index.ts";
import {
  type CheckpointRow,
  type StoryRow,
  type TimelineRow,
  tagsOf,
} from "../../portable/model/index.ts";
import { hasCode } from "../../shared/errors/index.ts";
import {
  type Changes,
  type Checkpoint,
  type Intent,
  type OperationOutput,
  splitNetAllow,
} from "../../shared/protocol/index.ts";
import { effectsBefore } from "../effects/index.ts";
import type { Engine } from "../ports/index.ts";
import { limitsOf } from "../session/index.ts";
import { intentColumns, intentFrom, listAllFiles, readStory } from "../story/index.ts";
import { requireCaptured } from "./held-checkpoints.ts";

/** What one answer holds of the outputs of all verifications together. */
const ANSWER_OUTPUT_CHARACTERS_MAX = 2 * 1024 * 1024;

/** What is told of a checkpoint beside the checkpoint itself, as far as it is there. */
export interface CheckpointFacts {
  /** Its story in brief. */
  story: Omit<StoryRow, "checkpoint"> | undefined;
  /** The newest verdict of its own verify command. */
  verification: VerificationRow | undefined;
  /** Whom it talked to most. */
  contacts?: string | undefined;
}

/** Returns a checkpoint as the outside sees it. */
export function describeCheckpoint(
  row: TimelineRow,
  { story, verification, contacts }: CheckpointFacts,
): Checkpoint {
  const { id, session, sessionName, parent, name, intent, trigger, content, autoCause } = row;
  const { createdAt, unchangedSince, pauseMs, totalMs, memoryBytes, pauseBytes, stage } = row;
  return {
    ...{ id, session, sessionName, parent, name, intent, trigger, content, autoCause },
    ...{ createdAt, unchangedSince, pauseMs, totalMs, memoryBytes, pauseBytes, stage },
    tags: tagsOf(row),
    task: row.task,
    derivedIntent: derivedIntentOf(row, story),
    verification: verification === undefined ? null : describeVerification(verification),
    changes: { summary: summaryOf(row, story?.summary ?? "", contacts) },
  };
}

/**
 * Returns checkpoints as the outside sees them, each with its story in brief.
 *
 * @param verdictsOf  marks them by what this command said, and not each by its own
 */
export function describeCheckpoints(
  rows: readonly TimelineRow[],
  { catalog, contacts }: Engine,
  verdictsOf: { command?: string } = {},
): Checkpoint[] {
  const briefs = contacts.briefs();
  const stories = new Map(catalog.stories.all().map((row) => [row.checkpoint, row]));
  const verdicts = catalog.verifications.verdicts(verdictsOf);
  return rows.map((row) =>
    describeCheckpoint(row, {
      story: stories.get(row.id),
      verification: verdicts.get(row.id),
      contacts: briefs.get(row.id),
    }),
  );
}

/**
 * Returns a checkpoint with its story and the processes that its images hold.
 *
 * @param all  each file by itself, looked for now: a story has noise in groups.
 */
export async function showCheckpoint(
  wanted: CheckpointRow,
  { all }: { all: boolean },
  engine: Engine,
  signal: AbortSignal,
): Promise<OperationOutput<"show">> {
  const row = await requireCaptured(wanted, engine).catch(() => wanted);
  const processes = await readProcesses(row, engine);
  const { checkpoint: _, changes: told, ...story } = await readStory(row, engine);
  const changes = all ? { ...told, ...(await listAllFiles(row, engine, signal)) } : told;
  const verifications = engine.catalog.verifications.of(row.id);
  return {
    ...describeCheckpoint(row, {
      story: inBrief(changes.summary, story.intent),
      verification: engine.catalog.verifications.verdicts({ checkpoint: row.id }).get(row.id),
    }),
    verifications: withinAnswer(verifications),
    changes: { ...changes, summary: summaryOf(row, changes.summary) },
    story,
    contacts: engine.contacts.of(row),
    allow: row.netAllow === null ? null : splitNetAllow(row.netAllow),
    agentState: describeState(row, engine),
    decisions: decisionsBefore(row, engine),
    ...effectsBefore(row, engine),
    processes: processes === null ? null : withCommandLines(processes, told.processes),
    binds: [...row.binds],
    host: { kernel: row.kernel, criu: row.criu, arch: row.arch },
    limits: limitsOf(row),
    diskPath: engine.store.checkpointPaths(row.id).checkpointDir,
  };
}

function decisionsBefore({ id }: CheckpointRow, { catalog, decisions }: Engine) {
  const tree = catalog.line(id).at(-1)?.session ?? "";
  return decisions
    .of(tree)
    .filter(({ checkpoint }) => checkpoint === id)
    .map(({ tree: _, instance: _i, ...decision }) => decision);
}

/** What is damaged of it is not in the way of everything else that a checkpoint tells. */
function describeState({ agentState }: CheckpointRow, { agentStates, logger }: Engine) {
  try {
    return { version: agentStates.versionOf(agentState), keys: agentStates.keysOf(agentState) };
  } catch (error) {
    logger.error("read an agent's state", error);
    return null;
  }
}

/** Images that are damaged, or of a newer Waypoint, are not in the way of everything else that a checkpoint tells. */
async function readProcesses(
  { id, content, heldBy }: CheckpointRow,
  { criu, store, logger }: Engine,
): Promise<ImageProcess[] | null> {
  if (content !== "full" || heldBy !== null) return [];
  try {
    store.requireKnown(id);
    using held = store.images.hold(store.checkpointPaths(id), { isUse: false });
    return await criu.readImageProcesses(held.imagesDir);
  } catch (error) {
    if (!hasCode(error, "CHECKPOINT_INCOMPLETE") && !hasCode(error, "FORMAT_TOO_NEW")) throw error;
    logger.error("read the processes of a checkpoint", error, { checkpointId: id });
    return null;
  }
}

/** Command lines are the story's, which has read them in a process of its own and bounded them. */
function withCommandLines(processes: readonly ImageProcess[], told: Changes["processes"]) {
  const known = [...(told?.started ?? []), ...(told?.still ?? [])];
  const lines = new Map(known.map(({ pid, command }) => [pid, command]));
  return processes.map(({ pid, command }) => ({ pid, command: lines.get(pid) ?? command }));
}

function inBrief(summary: string, intent: Intent | null): CheckpointFacts["story"] {
  return { summary, ...intentColumns(intent) };
}

/** What somebody said needs no other telling. */
function derivedIntentOf(row: TimelineRow, story: CheckpointFacts["story"]): Intent | null {
  const intent = story === undefined ? null : intentFrom(story);
  return row.intent === null && intent?.source !== "given" ? intent : null;
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
function summaryOf(row: TimelineRow, changes: string, contacts?: string): string {
  if (row.heldWhy !== null) return "held in memory: it cannot be dumped";
  const talked = contacts === undefined ? [] : [`talked to ${contacts}`];
  return [...(changes === "" ? [] : [changes]), ...talked].join("; ");
}
