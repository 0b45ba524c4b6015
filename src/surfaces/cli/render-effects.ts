import type { Effect } from "../../shared/protocol/index.ts";
import { formatClock } from "./text/quantities.ts";
import { shownCommand } from "./text/secrets.ts";
import { layoutTable } from "./text/table.ts";

const COLUMNS = ["AT", "KEY", "STATE", "WHAT", ""].map((title) => ({ title }));

/** Returns what was done outside, a line each. */
export function renderEffects(effects: readonly Effect[], nowMs: number): string[] {
  if (effects.length === 0) return ["Nothing was done outside, as far as the agent has told."];
  const rows = effects.map(
    ({ startedAt, key, state, what, irreversible, compensate, error, ...more }) => [
      formatClock(startedAt, nowMs),
      shownCommand(key),
      state,
      what === key ? "" : shownCommand(what),
      [
        ...(irreversible ? ["irreversible"] : []),
        ...(compensate === null ? [] : [`taken back by ${shownCommand(compensate)}`]),
        ...(more.compensatedByProgram ? ["taken back by the agent's program"] : []),
        ...(more.compensationError === null
          ? []
          : [`not taken back: ${shownCommand(more.compensationError)}`]),
        ...(error === null ? [] : [shownCommand(error)]),
      ].join("; "),
    ],
  );
  return layoutTable(COLUMNS, rows);
}
