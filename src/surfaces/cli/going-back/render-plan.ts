import {
  type FileChange,
  isFileNoise,
  type RestoreParts,
  type RestorePlan,
} from "../../../shared/protocol/index.ts";
import { renderUnknown } from "../diff/render-diff.ts";
import { renderFiles } from "../diff/render-files.ts";
import { renderGit } from "../diff/render-git.ts";
import { renderPackages } from "../diff/render-packages.ts";
import { renderProcesses } from "../diff/render-processes.ts";
import { renderShell } from "../diff/render-shell.ts";
import { renderContacts } from "../render-contacts.ts";
import { printable } from "../text/printable.ts";
import { formatSize } from "../text/quantities.ts";
import { shownCommand } from "../text/secrets.ts";
import type { Paint } from "../text/style.ts";
import { describeParts, renderHolders } from "./render-files-put.ts";

/** Longest command line that is shown. */
const COMMAND_CHARS_MAX = 200;

/** So many related sessions are named, more are counted. */
const RELATED_NAMED_MAX = 4;

/** How much of a plan is shown: all of it, or what a question can have before it. */
export interface PlanStyle {
  paint: Paint;
  /** Lines of each list; further ones are counted. */
  linesMax: number;
}

/** Returns what a restore would undo, what it would leave, and what no restore takes back. */
export function renderPlan(plan: RestorePlan, { paint, linesMax }: PlanStyle): string[] {
  const { changes, parts } = plan;
  const shorten = (lines: readonly string[]) => cut(lines, linesMax, paint);
  const name = printable(plan.sessionName);
  const target = plan.checkpointName === null ? plan.checkpoint : printable(plan.checkpointName);
  const isWhole = !Number.isFinite(linesMax);
  const lists = listChanges(isWhole ? changes : withoutFileNoise(changes), paint);
  const keptFiles = isWhole ? 0 : (changes.files ?? []).filter(isKeptByPrograms).length;
  const state = renderState(plan);
  const hasLists = keptFiles > 0 || state.length > 0 || lists.some((lines) => lines.length > 0);
  const what = describeParts(parts);
  const unknown = renderUnknown(changes.unknown, {
    isBelowPath: false,
    sections: sectionsOf(parts),
    paint,
  });
  return [
    hasLists
      ? `Back to ${target}, session ${name} would change so${what} (+ comes back, - goes, ~ is put back):`
      : `Session ${name} has nothing that a restore to ${target} would change${what}.`,
    ...lists.flatMap(shorten),
    ...renderKeptFiles(keptFiles, paint),
    ...headed("The agent's state:", shorten(state)),
    ...unknown,
    ...renderContent(plan),
    ...headed("Run since then:", shorten(renderCommands(plan, paint))),
    ...headed("An agent told since then, and it would be dropped:", shorten(renderTold(plan))),
    ...headed("Done outside since then, and it stays done:", shorten(renderDone(plan, paint))),
    ...headed("Since then it talked to:", shorten(renderContacts(plan.outside.contacts))),
    ...renderHolders(plan.heldOpen),
    ...renderOutside(plan),
    ...renderUntouched(plan),
    ...(plan.typing === null ? [] : [printable(plan.typing.sentence)]),
    ...(plan.refused === null ? [] : [`It would be refused: ${printable(plan.refused)}`]),
  ];
}

/** In the order of the timeline: services, files with the noise last, packages, the shell, git. */
function listChanges(changes: RestorePlan["changes"], paint: Paint): string[][] {
  const options = { paint, isBrief: false };
  const isNoise = ({ group, path }: FileChange) => group !== undefined || isFileNoise(path);
  const files = (changes.files ?? []).toSorted((a, b) => Number(isNoise(a)) - Number(isNoise(b)));
  return [
    renderProcesses({ ...changes, processes: null, connections: null }, options),
    renderProcesses({ ...changes, ports: null }, options),
    renderFiles({ ...changes, files }, options),
    [
      ...renderPackages(changes, options),
      ...renderShell(changes, options),
      ...renderGit(changes, options),
    ],
  ];
}

/** A history, an editor's file, a lock: it decides nothing. */
function isKeptByPrograms({ group, type, path }: FileChange): boolean {
  return group === undefined && type !== "directory" && isFileNoise(path);
}

/** Returns changes as a question has them: without the files that are counted only. */
function withoutFileNoise(changes: RestorePlan["changes"]): RestorePlan["changes"] {
  const { files, fileTotals } = changes;
  if (files === null || fileTotals === null) return changes;
  const totals = { ...fileTotals };
  for (const { change } of files.filter(isKeptByPrograms)) totals[change] -= 1;
  return { ...changes, files: files.filter((file) => !isKeptByPrograms(file)), fileTotals: totals };
}

function renderKeptFiles(count: number, paint: Paint): string[] {
  if (count === 0) return [];
  const files = count === 1 ? "1 file" : `${count} files`;
  return [paint("dim", `… and ${files} that programs keep for themselves; --dry-run lists them`)];
}

/** Whether what runs goes on. */
function goesOn({ only }: RestoreParts): boolean {
  return only === "files" || only === "state";
}

function sectionsOf({ only }: RestoreParts): string[] | undefined {
  if (only === "files") return ["files"];
  if (only === "state") return [];
  return only === "processes" ? ["processes", "ports", "connections"] : undefined;
}

function renderContent({ content, parts }: RestorePlan): string[] {
  if (content === "full" || goesOn(parts)) return [];
  return ["What runs would end, and a fresh shell start: that checkpoint holds files alone."];
}

function renderCommands({ commands, commandsUnknown }: RestorePlan, paint: Paint): string[] {
  const lines = (commands ?? []).map(({ command, durationMs, exitCode }) => {
    const shown = shownCommand(command);
    const short =
      shown.length <= COMMAND_CHARS_MAX ? shown : `${shown.slice(0, COMMAND_CHARS_MAX)}…`;
    const state = durationMs === null ? "runs still" : exitCode === 0 ? "" : `exit ${exitCode}`;
    return `$ ${short}${state === "" ? "" : paint("dim", `  ${state}`)}`;
  });
  if (commandsUnknown !== null) lines.push(paint("dim", `Unknown: ${printable(commandsUnknown)}`));
  return lines;
}

function renderState({ state }: RestorePlan): string[] {
  return state.map(({ key, now, restored }) => {
    const shown = printable(key);
    if (now === null || restored === null) return now === null ? `+ ${shown}` : `- ${shown}`;
    const [before, after] = [now, restored].map(({ items, bytes }) =>
      items === null ? formatSize(bytes) : items === 1 ? "1 item" : `${items} items`,
    );
    return `~ ${shown}: ${before} now, ${after} then`;
  });
}

function renderDone({ effects, effectsCount }: RestorePlan, paint: Paint): string[] {
  const left = effectsCount - effects.length;
  return [
    ...(left > 0 ? [paint("dim", `… ${left} earlier ones; \`waypoint effects\` lists them`)] : []),
    ...effects.map(({ key, what, state, irreversible, compensate, compensatedByProgram }) => {
      const name = what === key ? shownCommand(key) : `${shownCommand(key)}: ${shownCommand(what)}`;
      const words = [
        ...(state === "done" ? [] : [state]),
        ...(irreversible ? ["irreversible"] : []),
        ...(compensate === null ? [] : [`--compensate runs ${shownCommand(compensate)}`]),
        ...(compensatedByProgram ? ["the agent's program can take it back"] : []),
      ];
      return words.length === 0 ? name : `${name} ${paint("dim", `(${words.join("; ")})`)}`;
    }),
  ];
}

function renderTold({ told }: RestorePlan): string[] {
  return told.map(({ kind, text }) => {
    const shown = shownCommand(text).slice(0, COMMAND_CHARS_MAX);
    return kind === "task" ? `task done: ${shown}` : `message: ${shown}`;
  });
}

function renderOutside({ outside, parts }: RestorePlan): string[] {
  const { connections, binds } = outside;
  const shared = binds.map(({ target }) => printable(target)).join(", ");
  return [
    ...(connections.length === 0
      ? []
      : [
          `Connections that end: ${connections
            .map(({ protocol, remote }) => `${protocol} ${printable(remote)}`)
            .join(", ")}`,
        ]),
    ...(shared === "" ? [] : [`Shared with the host, and left as it is: ${shared}`]),
    ...(goesOn(parts) ? [] : ["What programs sent or did outside of the session stays done."]),
  ];
}

function renderUntouched({ untouched: { sessions, standbys } }: RestorePlan): string[] {
  const related = sessions.filter(({ isRelated }) => isRelated).map(({ name }) => printable(name));
  const named = related.length <= RELATED_NAMED_MAX ? related : [];
  const others = sessions.length - related.length;
  const parts = [
    ...named.map((name) => `session ${name}`),
    ...(related.length > named.length ? [`${related.length} related sessions`] : []),
    ...(others === 0 ? [] : [others === 1 ? "1 other session" : `${others} other sessions`]),
    ...(standbys.length > 1 ? [`${standbys.length} standbys`] : []),
    ...(standbys.length === 1 ? [`the standby of ${standbys[0]}`] : []),
  ];
  return parts.length === 0 ? [] : [`Not touched: ${parts.join(", ")}`];
}

function headed(head: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [head, ...lines];
}

function cut(lines: readonly string[], linesMax: number, paint: Paint): string[] {
  if (lines.length <= linesMax) return [...lines];
  const left = lines.length - linesMax;
  return [...lines.slice(0, linesMax), paint("dim", `… and ${left} more; --dry-run lists them`)];
}
