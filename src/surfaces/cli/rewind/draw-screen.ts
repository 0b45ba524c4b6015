import { stripVTControlCharacters } from "node:util";
import type { TerminalSize } from "../terminal/terminal-size.ts";
import { pad, truncate } from "../text/display-width.ts";
import { printable } from "../text/printable.ts";
import type { Paint } from "../text/style.ts";
import type { FittedLine } from "../timeline/fit-lines.ts";
import { planLayout, windowOf } from "./layout.ts";
import type { PickerState } from "./state.ts";

/** What is on the screen. */
export interface Scene {
  state: PickerState;
  session: string;
  /** Draws the timeline so wide. */
  rowsOf: (columns: number) => readonly FittedLine[];
  /** What a restore of the selected checkpoint would do. */
  preview: readonly string[];
  /** What came of the last key, or is under way. */
  message: string;
  paint: Paint;
}

const KEYS = "↑↓ move  / search  d diff  v verify  f fork  Enter restore  ? help  q leave";
const HELP = [
  "↑ ↓ j k         move; PageUp, PageDown, Home, End, g, G",
  "/               search: intents, commands, their output, verifications",
  "Esc             take the search back, then leave",
  "d               what differs from the session as it is now, in the pager",
  "v               run a command against the checkpoint, in a throw-away fork",
  "f               start a new session from the checkpoint",
  "Enter           put the session back to it, after a question",
  "q, Ctrl-C       leave; nothing is changed",
  "",
  "● a whole checkpoint  ○ files alone  ✓ ✗ verified",
  "Any key goes back.",
];

/** Returns the lines of the screen: at most as many as it has rows, none wider than it. */
export function drawScreen(scene: Scene, size: TerminalSize): string[] {
  const { state, paint } = scene;
  const lines = [
    paint("bold", titleLine(scene)),
    ...drawBody(scene, size),
    scene.message,
    lastLine(state, paint),
  ];
  return lines.slice(0, size.rows).map((line) => truncate(line, size.columns));
}

function titleLine({ session, state }: Scene): string {
  const { query, checkpoints } = state;
  const count = checkpoints.length === 1 ? "1 checkpoint" : `${checkpoints.length} checkpoints`;
  const searched = query === "" ? "" : ` with "${printable(query)}" (Esc shows all)`;
  return `rewind ${printable(session)}: ${count}${searched}`;
}

function lastLine({ mode, selected }: PickerState, paint: Paint): string {
  if (mode.kind === "search") return `Search: ${printable(mode.text)}█`;
  if (mode.kind === "verify") return `Verify ${selected} with: ${printable(mode.text)}█`;
  if (mode.kind === "confirm") {
    return paint(
      "bold",
      `Put it back to ${selected}? What it has now is checkpointed first. [y/N]`,
    );
  }
  return paint("dim", KEYS);
}

function drawBody(scene: Scene, size: TerminalSize): string[] {
  const { state, paint } = scene;
  const { list, preview } = planLayout(size);
  const rows = size.rows - 3;
  if (state.mode.kind === "help") return filled(HELP, rows);
  // The preview is what the question is about: it has all of a screen that has no place for both.
  if (state.mode.kind === "confirm" && preview?.place !== "side") {
    return filled(cut(scene.preview, rows, paint), rows);
  }
  const drawn = drawList(scene, list);
  if (preview === null) return drawn;
  const shown = filled(cut(scene.preview, preview.rows, paint), preview.rows);
  if (preview.place === "below") {
    return [...drawn, paint("dim", "─".repeat(size.columns)), ...shown];
  }
  const bar = paint("dim", "│");
  return drawn.map((line, at) => {
    const told = truncate(shown[at] ?? "", preview.columns);
    return `${pad(line, list.columns + 2)} ${bar} ${told}`.trimEnd();
  });
}

function drawList(scene: Scene, { columns, rows }: { columns: number; rows: number }): string[] {
  const { state, paint } = scene;
  const lines = scene.rowsOf(columns).flatMap((row) => {
    const isSelected = row.checkpoint !== null && row.checkpoint === state.selected;
    return row.lines.map((line) => ({ line, isSelected }));
  });
  const first = lines.findIndex(({ isSelected }) => isSelected);
  const count = lines.filter(({ isSelected }) => isSelected).length;
  const { from, to } = windowOf(lines.length, { first: Math.max(0, first), count }, rows);
  const drawn = lines.slice(from, to).map(({ line, isSelected }) => {
    if (!isSelected) return `  ${line}`;
    // Its own colours would cut the bar into pieces.
    const text = pad(truncate(stripVTControlCharacters(line), columns), columns);
    return `> ${paint("inverse", text)}`;
  });
  return filled(drawn, rows);
}

function cut(lines: readonly string[], rows: number, paint: Paint): string[] {
  if (lines.length <= rows) return [...lines];
  const more = lines.length - rows + 1;
  return [...lines.slice(0, rows - 1), paint("dim", `… ${more} more lines, d shows all`)];
}

function filled(lines: readonly string[], rows: number): string[] {
  return Array.from({ length: Math.max(0, rows) }, (_, at) => lines[at] ?? "");
}
