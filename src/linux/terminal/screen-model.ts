import type { SerializeAddon } from "@xterm/addon-serialize";
import type { Terminal } from "@xterm/headless";
import { boundedSize, type ScreenRun } from "../../shared/protocol/index.ts";
import { runsOf } from "./screen-runs.ts";

/** Lines kept above the visible screen. */
const SCROLLBACK_LINES = 1000;

interface Emulator {
  terminal: Terminal;
  serializer: SerializeAddon;
}

/** A screen has a cell at least, and no more than anybody could look at. */
function screenSize(columns: number, rows: number): { cols: number; rows: number } {
  const size = boundedSize({ columns, rows });
  return { cols: Math.max(1, size.columns), rows: Math.max(1, size.rows) };
}

/**
 * What a terminal shows, computed from its output.
 *
 * The emulator is loaded at the first use, so that importing this costs nothing.
 */
export class ScreenModel {
  #size: { cols: number; rows: number };
  #emulator: Promise<Emulator> | undefined;
  #ready: Emulator | undefined;

  constructor(cols: number, rows: number) {
    this.#size = screenSize(cols, rows);
  }

  /** Takes output; resolves when it is part of the screen. */
  async write(bytes: Uint8Array): Promise<void> {
    const { terminal } = await this.#load();
    await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  }

  async resize(cols: number, rows: number): Promise<void> {
    this.#size = screenSize(cols, rows);
    const { terminal } = await this.#load();
    terminal.resize(this.#size.cols, this.#size.rows);
  }

  /**
   * Returns the output that redraws the screen on an empty terminal of the same size.
   *
   * @param withHistory  what was scrolled out of sight as well. @defaultValue true
   */
  serialize({ withHistory = true }: { withHistory?: boolean } = {}): string {
    return this.#ready?.serializer.serialize(withHistory ? {} : { scrollback: 0 }) ?? "";
  }

  /** Returns where the cursor is, from 0. */
  cursor(): { column: number; row: number } {
    const buffer = this.#ready?.terminal.buffer.active;
    return { column: buffer?.cursorX ?? 0, row: buffer?.cursorY ?? 0 };
  }

  /** Whether a full-screen program has switched to the screen beside the normal one. */
  isAlternate(): boolean {
    return this.#ready?.terminal.buffer.active.type === "alternate";
  }

  /** Returns the visible lines without attributes and trailing blanks. */
  text(): string[] {
    const buffer = this.#ready?.terminal.buffer.active;
    if (buffer === undefined) return [];
    return Array.from({ length: this.#size.rows }, (_, row) => {
      return buffer.getLine(buffer.baseY + row)?.translateToString(true) ?? "";
    });
  }

  /** Returns the visible lines as runs of cells that look alike, without trailing blanks. */
  cells(): ScreenRun[][] {
    const buffer = this.#ready?.terminal.buffer.active;
    if (buffer === undefined) return [];
    return Array.from({ length: this.#size.rows }, (_, row) =>
      runsOf(buffer.getLine(buffer.baseY + row)),
    );
  }

  dispose(): void {
    this.#ready?.terminal.dispose();
  }

  #load(): Promise<Emulator> {
    this.#emulator ??= this.#create();
    return this.#emulator;
  }

  async #create(): Promise<Emulator> {
    const [headless, addon] = await Promise.all([
      import("@xterm/headless"),
      import("@xterm/addon-serialize"),
    ]);
    // Both packages are CommonJS; what Node finds as a named export differs from what a bundler does.
    const { Terminal } =
      headless.Terminal === undefined
        ? (headless as unknown as { default: typeof headless }).default
        : headless;
    const { SerializeAddon } =
      addon.SerializeAddon === undefined
        ? (addon as unknown as { default: typeof addon }).default
        : addon;
    const terminal = new Terminal({
      ...this.#size,
      scrollback: SCROLLBACK_LINES,
      allowProposedApi: true,
    });
    const serializer = new SerializeAddon();
    terminal.loadAddon(serializer);
    this.#ready = { terminal, serializer };
    return this.#ready;
  }
}
