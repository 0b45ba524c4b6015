import type { Conflict, OperationOutput, RevertPlan } from "../../../shared/protocol/index.ts";
import { renderMark } from "../diff/render-mark.ts";
import { printable } from "../text/printable.ts";
import type { Paint } from "../text/style.ts";
import { renderCheck } from "./render-check.ts";
import { describePaths, renderFilesPut, renderHolders } from "./render-files-put.ts";

const JOINED_SHOWN_MAX = 20;
const CONFLICTS_SHOWN_MAX = 50;

/** Returns what a revert would do. */
export function renderRevertPlan(
  plan: RevertPlan,
  { paint, linesMax }: { paint: Paint; linesMax: number },
): string[] {
  const { files, filesCount, joined, conflicts, conflictsCount, parts, from, to } = plan;
  const shown = files.slice(0, linesMax);
  const texts = new Set(joined);
  const name = printable(plan.sessionName);
  const where = describePaths(parts);
  return [
    filesCount === 0
      ? `Session ${name} has nothing to take back of what changed from ${from} to ${to}${where}.`
      : `Without what changed from ${from} to ${to}, session ${name} would change so${where} (+ comes back, - goes, ~ is put back):`,
    ...shown.map(({ path, type, change }) => {
      const slash = type === "directory" ? "/" : "";
      const how = texts.has(path) ? paint("dim", "  (lines changed since stay)") : "";
      return `${renderMark(change, paint)} ${printable(path)}${slash}${how}`;
    }),
    ...(filesCount > shown.length ? [paint("dim", `… and ${filesCount - shown.length} more`)] : []),
    ...renderConflicts(conflicts, { conflictsCount, to, session: name }),
    ...renderHolders(plan.heldOpen),
    ...(plan.refused === null ? [] : [`It would be refused: ${printable(plan.refused)}`]),
  ];
}

/** Returns what a revert has done. */
export function renderReverted(result: OperationOutput<"revert">, sessionRef: string): string[] {
  const { files, check, joined, joinedCount, conflicts, conflictsCount } = result;
  const { checkpoint, since, undo } = result;
  const session = printable(sessionRef);
  const left = renderConflicts(conflicts, { conflictsCount, to: since, session });
  if (files === null || (undo === null && files.put + files.removed + files.leftOutCount === 0)) {
    return ["There was nothing to take back; nothing was changed.", ...left];
  }
  return [
    `Session ${session} is without what changed from ${checkpoint} to ${since}; what runs goes on`,
    ...renderFilesPut(files),
    ...renderJoined(joined, joinedCount),
    ...left,
    ...(check === null ? [] : [renderCheck(check)]),
    undo === null
      ? "There is no undo."
      : `Undo point: ${undo}. Take it back with \`waypoint undo ${session}\`.`,
  ];
}

function renderJoined(joined: readonly string[], joinedCount: number): string[] {
  const shown = joined.slice(0, JOINED_SHOWN_MAX);
  return [
    ...shown.map((path) => `Lines changed since stay in ${printable(path)}`),
    ...(joinedCount > shown.length ? [`… and in ${joinedCount - shown.length} more`] : []),
  ];
}

function renderConflicts(
  conflicts: readonly Conflict[],
  { conflictsCount, to, session }: { conflictsCount: number; to: string; session: string },
): string[] {
  if (conflictsCount === 0) return [];
  const shown = conflicts.slice(0, CONFLICTS_SHOWN_MAX);
  return [
    ...shown.map(
      ({ path, between, since }) =>
        `Conflict: ${printable(path)} was ${between} then and ${since} since; it is left as it is`,
    ),
    ...(conflictsCount > shown.length ? [`… and ${conflictsCount - shown.length} more`] : []),
    `\`waypoint diff ${to} ${session} PATH\` shows what came later; --force gives that up.`,
  ];
}
