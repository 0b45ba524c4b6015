/** A key as the picker knows it. */
export type Key =
  | { name: "up" | "down" | "pageUp" | "pageDown" | "home" | "end" }
  | { name: "enter" | "escape" | "backspace" | "interrupt" }
  | { name: "text"; text: string };

/** What the keys mean at the moment. */
export type Mode =
  | { kind: "list" }
  | { kind: "help" }
  /** Waits for y. */
  | { kind: "confirm" }
  /** A line is typed: what to search, or what to verify with. */
  | { kind: "search" | "verify"; text: string };

/** What the picker knows, but for what lies on the daemon's side. */
export interface PickerState {
  /** Ids of the checkpoints that can be chosen, oldest first. */
  checkpoints: readonly string[];
  /** One of them; `null` where there is none. */
  selected: string | null;
  mode: Mode;
  /** Only checkpoints that fit this are shown; empty for all. */
  query: string;
  /** The command that was verified with last. */
  lastCommand: string;
}

/** What has to be done about a key besides showing the new state. */
export type Effect =
  | { kind: "leave" }
  | { kind: "search"; query: string }
  | { kind: "diff" | "fork" | "preview" | "restore"; checkpoint: string }
  | { kind: "verify"; checkpoint: string; command: string };

interface Pressed {
  state: PickerState;
  effect?: Effect;
}

const NO_MODE: Mode = { kind: "list" };

/** Returns what a key makes of a state; `pageRows` is how far a page goes. */
export function press(state: PickerState, key: Key, pageRows: number): Pressed {
  if (key.name === "interrupt") return { state, effect: { kind: "leave" } };
  const { mode } = state;
  if (mode.kind === "list") return pressInList(state, key, pageRows);
  if (mode.kind === "help") return { state: { ...state, mode: NO_MODE } };
  if (mode.kind === "confirm") return pressInConfirm(state, key);
  return pressInLine(state, mode, key);
}

/** Shows other checkpoints; the selection stays where that is possible, else goes to the newest. */
export function showCheckpoints(state: PickerState, checkpoints: readonly string[]): PickerState {
  const isThere = state.selected !== null && checkpoints.includes(state.selected);
  return {
    ...state,
    checkpoints,
    selected: isThere ? state.selected : (checkpoints.at(-1) ?? null),
  };
}

function pressInList(state: PickerState, key: Key, pageRows: number): Pressed {
  const { selected, query, lastCommand } = state;
  if (key.name === "escape") {
    return { state, effect: query === "" ? { kind: "leave" } : { kind: "search", query: "" } };
  }
  const steps = stepsOf(key, pageRows);
  if (steps !== null) return { state: move(state, steps) };
  if (key.name === "text" && key.text === "q") return { state, effect: { kind: "leave" } };
  if (key.name === "text" && key.text === "?")
    return { state: { ...state, mode: { kind: "help" } } };
  if (key.name === "text" && key.text === "/") {
    return { state: { ...state, mode: { kind: "search", text: query } } };
  }
  if (selected === null) return { state };
  if (key.name === "enter") {
    // What is shown before the question must be as things are now.
    const effect = { kind: "preview", checkpoint: selected } as const;
    return { state: { ...state, mode: { kind: "confirm" } }, effect };
  }
  if (key.name !== "text") return { state };
  if (key.text === "d") return { state, effect: { kind: "diff", checkpoint: selected } };
  if (key.text === "f") return { state, effect: { kind: "fork", checkpoint: selected } };
  if (key.text === "v") return { state: { ...state, mode: { kind: "verify", text: lastCommand } } };
  return { state };
}

function stepsOf(key: Key, pageRows: number): number | null {
  const typed = key.name === "text" ? key.text : key.name;
  switch (typed) {
    case "up":
    case "k":
      return -1;
    case "down":
    case "j":
      return 1;
    case "pageUp":
      return -pageRows;
    case "pageDown":
      return pageRows;
    case "home":
    case "g":
      return Number.NEGATIVE_INFINITY;
    case "end":
    case "G":
      return Number.POSITIVE_INFINITY;
    default:
      return null;
  }
}

function move(state: PickerState, steps: number): PickerState {
  const { checkpoints, selected } = state;
  const at = selected === null ? -1 : checkpoints.indexOf(selected);
  const to = Math.max(0, Math.min(checkpoints.length - 1, at + steps));
  return { ...state, selected: checkpoints[to] ?? null };
}

function pressInConfirm(state: PickerState, key: Key): Pressed {
  const left = { ...state, mode: NO_MODE };
  const isYes = key.name === "text" && key.text.toLowerCase() === "y";
  if (!isYes || state.selected === null) return { state: left };
  return { state: left, effect: { kind: "restore", checkpoint: state.selected } };
}

function pressInLine(state: PickerState, mode: Extract<Mode, { text: string }>, key: Key): Pressed {
  const typed = (text: string) => ({ state: { ...state, mode: { ...mode, text } } });
  if (key.name === "text") return typed(mode.text + key.text);
  if (key.name === "backspace") return typed(Array.from(mode.text).slice(0, -1).join(""));
  if (key.name === "escape") return { state: { ...state, mode: NO_MODE } };
  if (key.name !== "enter") return { state };
  const left = { ...state, mode: NO_MODE };
  const text = mode.text.trim();
  if (mode.kind === "search") return { state: left, effect: { kind: "search", query: text } };
  if (text === "" || state.selected === null) return { state: left };
  return {
    state: { ...left, lastCommand: text },
    effect: { kind: "verify", checkpoint: state.selected, command: text },
  };
}
