import type { MemoryView } from "./memory-view.ts";

const WORDS_MAX = 100_000;
const HAS_QUOTES = 0x02;

/**
 * Begins a line that is part of a word, or of a here-document: it must not be indented. No text of
 * a shell has this character.
 */
export const EXACT_LINE = "\0";

/** Reads the words of commands: `struct word_desc` and `struct word_list` of bash's command.h. */
export class BashWords {
  readonly #memory: MemoryView;

  constructor(memory: MemoryView) {
    this.#memory = memory;
  }

  /** Returns a word as it was written. @throws Error */
  one(address: number): string {
    const text = this.#memory.text(this.#memory.pointer(address));
    return text.replaceAll("\n", `\n${EXACT_LINE}`);
  }

  /** Tells whether a word has quotes; those of a here-document's end are taken off. */
  isQuoted(address: number): boolean {
    return (this.#memory.integer(address + 8) & HAS_QUOTES) !== 0;
  }

  /** Returns the words of a list. @throws Error */
  list(address: number, separator = " "): string {
    const words: string[] = [];
    for (let at = address; at !== 0; at = this.#memory.pointer(at)) {
      if (words.length === WORDS_MAX) throw new Error("a list of words of the shell has no end");
      words.push(this.one(this.#memory.pointer(at + 8)));
    }
    return words.join(separator);
  }
}
