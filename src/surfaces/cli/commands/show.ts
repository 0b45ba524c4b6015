import { isInMemory as liesInMemory } from "../../../base/index.ts";
import type { OperationOutput, SessionLimits } from "../../../shared/protocol/index.ts";
import { findBaseChanges, renderBaseChanges, withBaseChanges } from "../base-changes.ts";
import { type CommandContext, call, type Invocation, printLong } from "../context.ts";
import type { ShowSection } from "../parse-sections.ts";
import { renderBinds } from "../render-binds.ts";
import { renderContacts } from "../render-contacts.ts";
import { renderDecision } from "../render-decisions.ts";
import { renderEffects } from "../render-effects.ts";
import { renderOutput, renderVerdict } from "../render-verification.ts";
import { headed } from "../text/headed.ts";
import { printable } from "../text/printable.ts";
import { formatAge, formatClock, formatDuration, formatSize } from "../text/quantities.ts";
import { shownCommand } from "../text/secrets.ts";
import { renderStage } from "../text/stage.ts";
import type { Paint } from "../text/style.ts";
import { layoutFields, layoutTable } from "../text/table.ts";
import { renderScreen } from "./render-recent.ts";
import { renderAsked, renderStory, renderUnlisted } from "./render-story.ts";

interface ShowOptions {
  baseChanges?: boolean;
  section?: ShowSection[];
}

/** Shows one checkpoint in full. */
export async function run({
  context,
  options,
  input,
}: Invocation<ShowOptions, "show">): Promise<undefined> {
  const result = await call(context, "show", input);
  const isAsked = options.baseChanges === true;
  const changed = await findBaseChanges(context, result.id, isAsked);
  const isRemoved = context.isJson ? false : await isSessionRemoved(context, result.session);
  const { paint } = context.output;
  const isInMemory = liesInMemory(context.stateDir);
  const about = { nowMs: context.nowMs, isRemoved, isInMemory, paint, isAll: input.all === true };
  await printLong(context, withBaseChanges(result, changed), (shown) => [
    ...(options.section === undefined
      ? renderCheckpoint(shown, about)
      : renderAsked(shown, options.section, paint)),
    ...headed("Base", renderBaseChanges(changed, context.nowMs), paint),
  ]);
}

/** A session that was removed may have left its name to another one. */
async function isSessionRemoved(context: CommandContext, session: string): Promise<boolean> {
  const { sessions } = await call(context, "ls", {});
  return sessions.every(({ id }) => id !== session);
}

/** Returns every fact about a checkpoint. */
export function renderCheckpoint(
  shown: OperationOutput<"show">,
  {
    nowMs,
    isRemoved,
    isInMemory,
    isAll,
    paint,
  }: { nowMs: number; isRemoved: boolean; isInMemory: boolean; isAll: boolean; paint: Paint },
): string[] {
  const { host } = shown;
  const fields: [string, string][] = [
    ["Checkpoint", shown.id],
    ["Name", shown.name === null ? "-" : printable(shown.name)],
    ...(shown.tags.length === 0
      ? []
      : [["Tags", shown.tags.map(printable).join(", ")] satisfies [string, string]]),
    [
      "Session",
      `${printable(shown.sessionName)} (${shown.session}${isRemoved ? ", removed" : ""})`,
    ],
    ["Parent", shown.parent ?? "-"],
    ...(shown.task === null ? [] : [["Task", shownCommand(shown.task)] satisfies [string, string]]),
    ...renderState(shown),
    ["Taken", `${formatClock(shown.createdAt, nowMs)} (${formatAge(shown.createdAt, nowMs)} ago)`],
    ["Trigger", shown.trigger],
    ["Content", shown.content === "full" ? "processes and files" : "files alone"],
    ["Stage", renderStage(shown, { isInMemory })],
    ["Shared", shown.unchangedSince === null ? "-" : `unchanged since ${shown.unchangedSince}`],
    ["Pause", `${formatDuration(shown.pauseMs)} of ${formatDuration(shown.totalMs)}`],
    ["Memory", renderMemory(shown)],
    ["Changes", shown.changes.summary === "" ? "-" : shownCommand(shown.changes.summary)],
    ["Verified", renderMark(shown, paint)],
    ["Host", `Linux ${printable(host.kernel)} ${host.arch}, CRIU ${printable(host.criu)}`],
    ["Limits", renderLimits(shown.limits)],
    // Where they lie is in the daemon's own mounts, which a person does not see.
    ["Files", `waypoint browse ${shown.id}`],
    ...(shown.allow === null
      ? []
      : [["Reaches", shown.allow.map(printable).join(", ")] satisfies [string, string]]),
    ...renderBinds(shown.binds).map((line): [string, string] => ["Bind", line]),
  ];
  return [
    ...layoutFields(fields),
    ...headed(
      "Decided",
      shown.decisions.flatMap((each) => renderDecision(each, nowMs)),
      paint,
    ),
    ...headed("Done outside", renderDone(shown, nowMs), paint),
    ...renderStory(shown, { paint, isAll }),
    ...headed("Talked to", renderContacts(shown.contacts), paint),
    ...renderProcesses(shown.processes, paint),
    ...renderScreen(shown.story, paint),
    ...renderVerifications(shown.verifications, { nowMs, paint }),
    ...renderUnlisted(shown, paint),
  ];
}

/** What no restore takes back. */
function renderDone({ effects, effectsCount }: OperationOutput<"show">, nowMs: number): string[] {
  if (effects.length === 0) return [];
  const left = effectsCount - effects.length;
  const earlier = left > 0 ? [`… ${left} earlier ones; \`waypoint effects\` lists them`] : [];
  return [...earlier, ...renderEffects(effects, nowMs)];
}

function renderState({ agentState }: OperationOutput<"show">): [string, string][] {
  const keys = (agentState?.keys ?? []).map(({ key, items, bytes }) => {
    const size = items === null ? formatSize(bytes) : items === 1 ? "1 item" : `${items} items`;
    return `${printable(key)} (${size})`;
  });
  return keys.length === 0 ? [] : [["State", keys.join(", ")]];
}

/** Where writes are followed, most of it was copied earlier: while the session ran, or for the parent. */
function renderMemory({ memoryBytes, pauseBytes }: OperationOutput<"show">): string {
  if (pauseBytes === null) return formatSize(memoryBytes);
  const earlier = formatSize(Math.max(0, memoryBytes - pauseBytes));
  return `${formatSize(memoryBytes)}: ${formatSize(pauseBytes)} copied in the pause, ${earlier} earlier`;
}

function renderLimits({ memoryBytes, cpus, pids }: SessionLimits): string {
  const parts = [
    ...(memoryBytes === null ? [] : [`${formatSize(memoryBytes)} of memory`]),
    ...(cpus === null ? [] : [`${cpus} processors`]),
    pids === null ? "any number of processes" : `${pids} processes`,
  ];
  return parts.join(", ");
}

function renderMark(
  { verification, verifications }: OperationOutput<"show">,
  paint: Paint,
): string {
  if (verification !== null) return renderVerdict(verification, paint);
  return verifications.length === 0 ? "never" : "no verdict of a command of its own";
}

/** All verifications, newest first, each with the end of what it printed. */
function renderVerifications(
  verifications: OperationOutput<"show">["verifications"],
  { nowMs, paint }: { nowMs: number; paint: Paint },
): string[] {
  return verifications.flatMap((verification) => [
    "",
    `${formatClock(verification.at, nowMs)}  ${renderVerdict(verification, paint)}`,
    ...renderOutput(verification, paint),
  ]);
}

function renderProcesses(processes: OperationOutput<"show">["processes"], paint: Paint): string[] {
  if (processes === null) {
    return headed("Running", ["unknown: the images of its processes cannot be read"], paint);
  }
  if (processes.length === 0) return [];
  const rows = processes.map(({ pid, command }) => [String(pid), shownCommand(command)]);
  const columns = [{ title: "PID", align: "right" }, { title: "COMMAND" }] as const;
  return headed("Running", layoutTable(columns, rows), paint);
}
