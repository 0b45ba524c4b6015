import { describeCheckpoints } from "../engine/checkpoint/index.ts";
import { allDecisions, decisionsOf } from "../engine/decisions/index.ts";
import type { Engine } from "../engine/ports/index.ts";
import { describeSession } from "../engine/session/index.ts";
import { isMentioned } from "../portable/decisions/index.ts";
import { resolveSession } from "../portable/lineage/index.ts";
import type { SessionRow, TimelineRow } from "../portable/model/index.ts";
import type {
  Checkpoint,
  Decision,
  OperationOutput,
  OperationParsedInput,
} from "../shared/protocol/index.ts";
import { filterTimeline } from "./filter-timeline.ts";
import { linkOverElided } from "./link-over-elided.ts";
import { tellDecision } from "./tell-decision.ts";

/** How long the timeline waits for the stories of checkpoints that were taken just now. */
const STORIES_WAIT_MS = 200;

type LogInput = OperationParsedInput<"log">;

/**
 * Returns the timeline, or of it the checkpoints that fit all that was asked for.
 *
 * Operations have no story: with a question to stories, none is returned.
 *
 * @throws SESSION_NOT_FOUND | REFERENCE_AMBIGUOUS
 */
export async function readLog(input: LogInput, engine: Engine): Promise<OperationOutput<"log">> {
  const { catalog } = engine;
  const session = input.session === undefined ? null : resolveSession(input.session, catalog);
  await waitForStories(engine);
  const rows = catalog.timeline();
  const scope = session === null ? rows : historyOf(session, rows);
  // What a fork has from another session is marked by the fork's own command.
  const command = input.command ?? session?.verifyCommand ?? undefined;
  const all = describeCheckpoints(scope, engine, command === undefined ? {} : { command });
  const inTime = all.filter(
    ({ createdAt, trigger }) => isWithin(createdAt, input) && isOfKind(trigger, input),
  );
  const { told, notSearched } = await filterTimeline(inTime, input, engine);
  const checkpoints = input.limit === undefined ? told : told.slice(-input.limit);
  const operations = catalog.operations
    .all(session?.id)
    .map(({ stateBefore: _, ...operation }) => operation);
  const sessions = session === null ? catalog.sessions() : [session];
  return {
    checkpoints,
    operations: asksStories(input) ? [] : operations.filter(isShownWith(checkpoints, input)),
    decisions: decisionsFor(input, session, scope, engine).filter(isShownWith(checkpoints, input)),
    sessions: sessions.map((row) => describeSession(row, engine)),
    elided: linkOverElided(checkpoints, all),
    notShown: all.length - checkpoints.length,
    notSearched,
  };
}

/**
 * What was decided beside the checkpoints of the timeline, and what has the text that is looked for. Of
 * what else stories tell, decisions tell nothing.
 */
function decisionsFor(
  input: LogInput,
  session: SessionRow | null,
  scope: readonly TimelineRow[],
  engine: Engine,
): Decision[] {
  const { decisions, grep } = input;
  if ((!decisions && grep === undefined) || asksStories({ ...input, grep: undefined })) return [];
  const shown = new Set(scope.map(({ id }) => id));
  const all = session === null ? allDecisions(engine) : decisionsOf(session, engine);
  return all
    .filter(
      (each) =>
        session === null ||
        each.session === session.id ||
        (each.checkpoint !== null && shown.has(each.checkpoint)),
    )
    .filter((each) => grep === undefined || isMentioned(each, grep))
    .map((each) => tellDecision(each, engine));
}

/** Its own checkpoints, and those that it descends from. */
function historyOf(
  { id, head }: { id: string; head: string | null },
  rows: readonly TimelineRow[],
): TimelineRow[] {
  const parents = new Map(rows.map((row) => [row.id, row.parent]));
  const own = new Set(rows.filter(({ session }) => session === id).map((row) => row.id));
  for (let next = head; next !== null; next = parents.get(next) ?? null) own.add(next);
  return rows.filter((row) => own.has(row.id));
}

function isOfKind(trigger: Checkpoint["trigger"], { auto }: LogInput): boolean {
  return auto === undefined || auto === (trigger === "auto");
}

function asksStories(input: LogInput): boolean {
  const { path, package: packageName, grep, verified, command, tag } = input;
  return [path, packageName, grep, verified, command, tag].some((asked) => asked !== undefined);
}

function isWithin(instant: string, { since, until }: LogInput): boolean {
  const atMs = Date.parse(instant);
  const isAfter = since === undefined || atMs >= Date.parse(since);
  return isAfter && (until === undefined || atMs <= Date.parse(until));
}

/** With only the newest checkpoints, what happened before them is not told either. */
function isShownWith(checkpoints: readonly Checkpoint[], input: LogInput) {
  const oldest = input.limit === undefined ? undefined : checkpoints[0]?.createdAt;
  return ({ at }: { at: string }) =>
    isWithin(at, input) && (oldest === undefined || Date.parse(at) >= Date.parse(oldest));
}

async function waitForStories({ stories, turns }: Engine): Promise<void> {
  using _hurried = turns.hurry();
  await stories.caughtUp(STORIES_WAIT_MS);
}
