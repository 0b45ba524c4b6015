import { type BashWords, EXACT_LINE } from "./bash-words.ts";
import type { MemoryView } from "./memory-view.ts";

// command.h: struct redirect
const REDIRECT = {
  ...{ next: 0, redirector: 8, ownFlags: 16, instruction: 24, redirectee: 32, documentEnd: 40 },
} as const;
const HAS_VARIABLE = 0x01;
const REDIRECTS_MAX = 1_000;

type Target = "word" | "number" | "document" | "none";

/** Spelling, what follows, and which descriptor need not be written: enum r_instruction. */
const INSTRUCTIONS: readonly (readonly [string, Target, number | null])[] = [
  [">", "word", 1],
  ["<", "word", 0],
  ["&", "none", null],
  [">>", "word", 1],
  ["<<", "document", 0],
  ["<<< ", "word", 0],
  ["<&", "number", 0],
  [">&", "number", 1],
  ["<<-", "document", 0],
  [">&-", "none", 1],
  ["&>", "word", null],
  ["<>", "word", 0],
  [">|", "word", 1],
  ["<&", "word", 0],
  [">&", "word", 1],
  ["<&", "number", 0],
  [">&", "number", 1],
  ["<&", "word", 0],
  [">&", "word", 1],
  ["&>>", "word", null],
];
/** These move a descriptor, which a dash behind it says. */
const MOVES: readonly number[] = [15, 16, 17, 18];
/** For a program that runs in the background; nobody wrote it. */
const IMPLIED = 2;

/** Writes out redirections, and keeps the texts of here-documents for the line after them. */
export class BashRedirects {
  documents: string[] = [];
  readonly #memory: MemoryView;
  readonly #words: BashWords;

  constructor(memory: MemoryView, words: BashWords) {
    this.#memory = memory;
    this.#words = words;
  }

  /** Returns the redirections of a list, each after a space. @throws Error */
  print(address: number): string {
    let text = "";
    let count = 0;
    for (let at = address; at !== 0; at = this.#memory.pointer(at + REDIRECT.next)) {
      count += 1;
      if (count > REDIRECTS_MAX) throw new Error("a list of redirections has no end");
      text += this.#one(at);
    }
    return text;
  }

  #one(at: number): string {
    const number = this.#memory.integer(at + REDIRECT.instruction);
    const instruction = INSTRUCTIONS[number];
    if (instruction === undefined) throw new Error("this bash redirects in an unknown way");
    if (number === IMPLIED) return "";
    const [sign, target, implied] = instruction;
    const from = this.#redirector(at, implied);
    return ` ${from}${sign}${this.#target(at, target)}${MOVES.includes(number) ? "-" : ""}`;
  }

  #redirector(at: number, implied: number | null): string {
    if (implied === null) return "";
    const isVariable = (this.#memory.integer(at + REDIRECT.ownFlags) & HAS_VARIABLE) !== 0;
    if (isVariable) return `{${this.#words.one(this.#memory.pointer(at + REDIRECT.redirector))}}`;
    const descriptor = this.#memory.integer(at + REDIRECT.redirector);
    return descriptor === implied ? "" : String(descriptor);
  }

  #target(at: number, target: Target): string {
    if (target === "none") return "";
    if (target === "number") return String(this.#memory.integer(at + REDIRECT.redirectee));
    const address = this.#memory.pointer(at + REDIRECT.redirectee);
    const word = this.#words.one(address);
    if (target === "word") return word;
    const end = this.#memory.text(this.#memory.pointer(at + REDIRECT.documentEnd));
    const isQuoted = this.#words.isQuoted(address);
    const lines = `${EXACT_LINE}${word}${end}`;
    this.documents.push(`${lines}\n`);
    return isQuoted ? `'${end.replaceAll("'", "'\\''")}'` : end;
  }
}
