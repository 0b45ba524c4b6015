/** Longest beginning of a sequence that is kept from one chunk for the next. */
const CARRY_CHARACTERS_MAX = 64;

/** CSI ? modes h/l (DECSET, DECRST), and kitty's CSI > flags u, CSI < count u for keys. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins what must be found.
const MODE_CHANGE = /\u001b\[(?:\?([\d;]+)([hl])|>(\d*)u|<(\d*)u|>4(?:;(\d))?m)/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins what must be found.
const UNFINISHED = /\u001b(?:\[[?><\d;]*)?$/;

/** Modes that a terminal has when a shell's prompt shows; all others are off then. */
const ON_BY_DEFAULT = new Set([7, 25]);

/**
 * Remembers which terminal modes a program has switched on, to switch them off when the user leaves
 * it half-way.
 *
 * Only what was changed is changed back: leaving the alternate screen when it is not shown would
 * move the cursor.
 */
export class PrivateModes {
  readonly #changed = new Set<number>();
  #keyReports = 0;
  #hasOtherKeys = false;
  #carry = "";

  /** Looks at bytes on their way to the terminal. */
  watch(bytes: Uint8Array): void {
    const text = this.#carry + Buffer.from(bytes).toString("latin1");
    for (const [, modes, action, pushed, popped, otherKeys] of text.matchAll(MODE_CHANGE)) {
      if (modes !== undefined) this.#change(modes, action === "h");
      else if (pushed !== undefined) this.#keyReports += 1;
      else if (popped !== undefined) this.#pop(popped);
      else this.#hasOtherKeys = otherKeys !== undefined && otherKeys !== "0";
    }
    this.#carry = UNFINISHED.exec(text)?.[0].slice(0, CARRY_CHARACTERS_MAX) ?? "";
  }

  /** Returns the bytes that put the terminal back. */
  undo(): string {
    const modes = [...this.#changed].map((mode) => {
      return `\u001b[?${mode}${ON_BY_DEFAULT.has(mode) ? "h" : "l"}`;
    });
    if (this.#keyReports > 0) modes.push(`\u001b[<${this.#keyReports}u`);
    if (this.#hasOtherKeys) modes.push("\u001b[>4m");
    // Colours and the scrolling region cost nothing to put back.
    return `${modes.join("")}\u001b[0m`;
  }

  #change(modes: string, isSet: boolean): void {
    for (const mode of modes.split(";").map(Number)) {
      if (isSet === ON_BY_DEFAULT.has(mode)) this.#changed.delete(mode);
      else this.#changed.add(mode);
    }
  }

  #pop(count: string): void {
    this.#keyReports = Math.max(0, this.#keyReports - (count === "" ? 1 : Number(count)));
  }
}
