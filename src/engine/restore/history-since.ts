import type { CommandRow } from "../../portable/catalog/index.ts";
import { ancestry } from "../../portable/lineage/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { RestorePlan } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import { readStory } from "../story/index.ts";

const COMMANDS_MAX = 1000;
/** Stories that are read for one plan; a reason stands for what was typed before them. */
const STORIES_MAX = 200;

type RunCommand = NonNullable<RestorePlan["commands"]>[number];

/** Commands that came after a checkpoint, and why some of them may be missing. */
interface Found {
  commands: RunCommand[];
  reasons: string[];
}

/** Returns the commands that were run or typed in a session since a checkpoint, oldest first. */
export async function commandsSince(
  session: SessionRow,
  target: CheckpointRow,
  engine: Engine,
): Promise<Pick<RestorePlan, "commands" | "commandsUnknown">> {
  const run = runSince(session, target, engine);
  const typed = await typedSince(session, target, engine);
  const commands = [...run.commands, ...typed.commands].sort(byStart);
  const reasons = [...run.reasons, ...typed.reasons];
  return { commands, commandsUnknown: reasons.length === 0 ? null : reasons.join("; ") };
}

/**
 * Returns what an agent handed over with the checkpoints that came after one, oldest first: its
 * messages, and the tasks that it said were done.
 */
export function agentMessagesSince(
  session: SessionRow,
  target: CheckpointRow,
  engine: Engine,
): RestorePlan["told"] {
  const { since } = lineSince(session, target, engine);
  return since.toReversed().flatMap(({ id, createdAt, agentSaid, autoCause, intent }) => {
    const about = { checkpoint: id, at: createdAt };
    const message = agentSaid === null ? [] : [{ ...about, kind: "message", text: agentSaid }];
    const isTask = autoCause === "task" && intent !== null;
    return [...message, ...(isTask ? [{ ...about, kind: "task", text: intent }] : [])] as const;
  }) as RestorePlan["told"];
}

/** The checkpoints of a session's line that came after one, newest first, and where that parted. */
function lineSince({ head }: SessionRow, target: CheckpointRow, { catalog }: Engine) {
  const behind = new Set(catalog.line(target.id).map(({ id }) => id));
  const line = ancestry(head, catalog);
  const at = line.findIndex(({ id }) => behind.has(id));
  return at === -1
    ? { since: line, parted: undefined }
    : { since: line.slice(0, at), parted: line[at] };
}

/** What `exec` and `run` ran; where the checkpoint is on another branch, since the branches parted. */
function runSince(session: SessionRow, target: CheckpointRow, engine: Engine): Found {
  const { since, parted } = lineSince(session, target, engine);
  const found: CommandRow[] = [];
  const unnoted: string[] = [];
  let later = engine.journal.soFar(session.instance ?? "") ?? undefined;
  if (later === undefined) unnoted.push(session.name);
  for (const { id } of parted === undefined ? since : [...since, parted]) {
    const capture = engine.catalog.commands.capture(id);
    if (capture === undefined) unnoted.push(id);
    if (later !== undefined) found.push(...between(capture, later, engine));
    later = capture ?? later;
  }
  if (parted === undefined && later !== undefined) found.push(...between(undefined, later, engine));
  // One that ran at a checkpoint is there again with its end, from what came later.
  const rows = new Map(found.toReversed().map((row) => [`${row.startedAt} ${row.command}`, row]));
  const commands = [...rows.values()].map(commandOf).sort(byStart);
  const left = commands.length - COMMANDS_MAX;
  const reasons = [
    ...(unnoted.length === 0
      ? []
      : [`it was not noted what had been run until ${unnoted.join(", ")}`]),
    ...(left > 0 ? [`the first ${left} are left out`] : []),
  ];
  return { commands: commands.slice(-COMMANDS_MAX), reasons };
}

/**
 * What was typed is in the memory of the session's first process, which a checkpoint captures: its
 * story tells it. Of keys that came after the newest checkpoint only that is known.
 */
async function typedSince(
  session: SessionRow,
  target: CheckpointRow,
  engine: Engine,
): Promise<Found> {
  const { since } = lineSince(session, target, engine);
  const read = since.slice(0, STORIES_MAX).toReversed();
  const stories = await Promise.all(read.map((row) => readStory(row, engine)));
  const typed = stories.flatMap(({ commands }) =>
    (commands ?? []).filter(({ by }) => by === "terminal").map(commandOf),
  );
  const isAll = read.length === since.length;
  const reasons = isAll ? [] : [`what was typed until ${read[0]?.id} is not listed`];
  return { commands: typed, reasons: [...reasons, ...keysSince(session, engine)] };
}

function keysSince({ id, head }: SessionRow, { catalog, typing }: Engine): string[] {
  const lastKeyAtMs = typing.lastKeyAtMs(id);
  const newest = head === null ? undefined : catalog.checkpoint(head);
  const isSince = lastKeyAtMs !== null && lastKeyAtMs > Date.parse(newest?.createdAt ?? "");
  return isSince ? ["what was typed since the last checkpoint is not listed"] : [];
}

type Capture = NonNullable<ReturnType<Engine["journal"]["soFar"]>>;

function between(earlier: Capture | undefined, later: Capture, { catalog }: Engine): CommandRow[] {
  const after = earlier?.instance === later.instance ? earlier.lastCommand : 0;
  return [...catalog.commands.between(later.instance, after, later.lastCommand), ...later.running];
}

function commandOf({ command, by, startedAt, durationMs, exitCode }: RunCommand): RunCommand {
  return { command, by, startedAt, durationMs, exitCode };
}

function byStart(one: RunCommand, other: RunCommand): number {
  return one.startedAt < other.startedAt ? -1 : 1;
}
