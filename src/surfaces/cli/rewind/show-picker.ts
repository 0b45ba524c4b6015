import path from "node:path";
import { pathToFileURL } from "node:url";
import { choosePager, showInPager } from "../pager.ts";
import { terminalSize } from "../terminal/terminal-size.ts";
import type { Picker, PickerScreen } from "./picker.ts";
import type { InkKey } from "./screen-library.ts";
import type { Key } from "./state.ts";

/** Waits for a key also where all fits on the screen, which the picker will take again. */
const PAGER_DEFAULT = "less -R -+F -+X";
/** Of a terminal that nobody has given a size. */
const SIZE_DEFAULT = { columns: 80, rows: 24 };

type Library = Awaited<ReturnType<typeof loadLibrary>>;

/**
 * Gives the whole terminal to a picker until it is left, and returns the checkpoint to go back to.
 *
 * **Requires** a terminal. The library puts it back however this ends: left, by a signal, by a crash.
 */
export async function showPicker(
  makePicker: (screen: PickerScreen) => Picker,
): Promise<string | null> {
  const library = await loadLibrary();
  let chosen: string | null = null;
  const onLeave = (restore: string | null) => {
    chosen = restore;
  };
  const app = library.render(library.createElement(App, { library, makePicker, onLeave }), {
    alternateScreen: true,
    exitOnCtrlC: false,
    interactive: true,
    patchConsole: false,
  });
  await app.waitUntilExit();
  return chosen;
}

/** The picker's lines on the screen, and the keys on their way to it. */
function App({
  library,
  makePicker,
  onLeave,
}: {
  library: Library;
  makePicker: (screen: PickerScreen) => Picker;
  onLeave: (restore: string | null) => void;
}) {
  const { createElement, Box, Text } = library;
  const { exit, suspendTerminal } = library.useApp();
  const size = terminalSize(library.useWindowSize()) ?? SIZE_DEFAULT;
  const [, redraw] = library.useReducer((count: number) => count + 1, 0);
  const [picker] = library.useState(() =>
    makePicker({
      changed: () => redraw(),
      page: (lines) => suspendTerminal(() => page(lines)),
      leave: (restore) => {
        onLeave(restore);
        exit();
      },
    }),
  );
  library.useEffect(() => () => picker[Symbol.dispose](), [picker]);
  library.useInput((input, key) => {
    for (const pressed of keysOf(input, key)) picker.press(pressed, size);
  });
  const lines = picker.draw(size).map((line, row) => {
    const text = line === "" ? " " : line;
    return createElement(Text, { key: row, wrap: "truncate-end" }, text);
  });
  return createElement(Box, { flexDirection: "column" }, lines);
}

/** Loaded only here: it takes longer than everything else together. */
async function loadLibrary(): Promise<typeof import("./screen-library.ts")> {
  const file = path.join(import.meta.dirname, "..", "screen.mjs");
  return await import(pathToFileURL(file).href);
}

async function page(lines: readonly string[]): Promise<void> {
  const { WAYPOINT_PAGER, PAGER } = process.env;
  const isChosen = WAYPOINT_PAGER !== undefined || PAGER !== undefined;
  const pager = isChosen ? choosePager(process.env) : null;
  await showInPager(pager ?? PAGER_DEFAULT, lines.map((line) => `${line}\n`).join(""));
}

/** Several characters come at once from a paste. */
function keysOf(input: string, key: InkKey): Key[] {
  if (key.ctrl && (input === "c" || input === "d")) return [{ name: "interrupt" }];
  if (key.upArrow) return [{ name: "up" }];
  if (key.downArrow) return [{ name: "down" }];
  if (key.pageUp) return [{ name: "pageUp" }];
  if (key.pageDown) return [{ name: "pageDown" }];
  if (key.home) return [{ name: "home" }];
  if (key.end) return [{ name: "end" }];
  if (key.escape) return [{ name: "escape" }];
  if (key.return) return [{ name: "enter" }];
  if (key.backspace || key.delete) return [{ name: "backspace" }];
  return key.ctrl || key.meta || key.tab ? [] : Array.from(input, typedKey);
}

/** Keys that were typed faster than they are read come in one piece, with Enter among them. */
function typedKey(text: string): Key {
  if (text === "\r" || text === "\n") return { name: "enter" };
  return text === "\u007f" ? { name: "backspace" } : { name: "text", text };
}
