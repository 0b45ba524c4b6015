/** A word of a command as the shell would have it. */
export interface Word {
  text: string;
  /** A variable or another command makes a part of it. */
  isDynamic: boolean;
}

/** What a line of shell runs, as far as that can be read. */
export interface ReadLine {
  commands: Word[][];
  /** It has quotes or brackets that do not end, or stands too deep in others. */
  isUnreadable: boolean;
}

/** A line within a line within a line. */
const DEPTH_MAX = 20;

/** Returns the simple commands of a line, also those between others: `$(…)`, backticks, `(…)`. */
export function readLine(line: string, depth = 0): ReadLine {
  const reader = new LineReader(line, depth);
  reader.read();
  return { commands: reader.commands, isUnreadable: reader.isUnreadable };
}

class LineReader {
  readonly commands: Word[][] = [];
  isUnreadable = false;
  readonly #line: string;
  readonly #depth: number;
  #at = 0;
  #words: Word[] = [];
  #word: Word | null = null;
  /** The next word is the file of a redirection. */
  #isFile = false;

  constructor(line: string, depth: number) {
    this.#line = line;
    this.#depth = depth;
  }

  read(): void {
    while (this.#at < this.#line.length) this.#step(this.#line[this.#at] ?? "");
    this.#endCommand();
  }

  #step(character: string): void {
    if (character === "\\") {
      this.#escape();
      return;
    }
    if (character === "'") {
      this.#single();
      return;
    }
    if (character === '"') {
      this.#double();
      return;
    }
    if (character === "`") {
      this.#backticks();
      return;
    }
    if (character === "$") {
      this.#dollar();
      return;
    }
    if (character === "#" && this.#word === null) {
      this.#comment();
      return;
    }
    this.#at += 1;
    if (";&|()\n".includes(character)) {
      // `2>&1` and `&>file` are redirections, not ends.
      if (character === "&" && (this.#isFile || this.#line[this.#at] === ">")) return;
      if (character === "(" && this.#isFile) this.#isFile = false;
      this.#endCommand();
      return;
    }
    if (character === "<" || character === ">") {
      this.#redirect();
      return;
    }
    if (character === " " || character === "\t" || character === "\r") {
      this.#endWord();
      return;
    }
    this.#add(character);
  }

  #add(text: string, isDynamic = false): void {
    this.#word ??= { text: "", isDynamic: false };
    this.#word.text += text;
    this.#word.isDynamic ||= isDynamic;
  }

  #endWord(): void {
    if (this.#word === null) return;
    if (!this.#isFile) this.#words.push(this.#word);
    this.#isFile = false;
    this.#word = null;
  }

  #endCommand(): void {
    this.#endWord();
    this.#isFile = false;
    if (this.#words.length > 0) this.commands.push(this.#words);
    this.#words = [];
  }

  /** A number before it is the file's, and no word. */
  #redirect(): void {
    if (this.#word !== null && /^\d+$/.test(this.#word.text)) this.#word = null;
    this.#endWord();
    this.#isFile = true;
  }

  #escape(): void {
    const next = this.#line[this.#at + 1] ?? "";
    this.#at += 2;
    if (next !== "\n") this.#add(next);
  }

  #single(): void {
    const end = this.#line.indexOf("'", this.#at + 1);
    this.#take(end);
    if (end >= 0) this.#add(this.#line.slice(this.#at, end));
    this.#at = end < 0 ? this.#line.length : end + 1;
  }

  /** Goes behind an opening quote; without an end all that follows is unreadable. */
  #take(end: number): void {
    this.#at += 1;
    if (end < 0) this.isUnreadable = true;
  }

  #double(): void {
    this.#at += 1;
    this.#add("");
    while (this.#at < this.#line.length) {
      const character = this.#line[this.#at] ?? "";
      if (character === '"') {
        this.#at += 1;
        return;
      }
      if (character === "\\") this.#escape();
      else if (character === "`") this.#backticks();
      else if (character === "$") this.#dollar();
      else {
        this.#add(character);
        this.#at += 1;
      }
    }
    this.isUnreadable = true;
  }

  #backticks(): void {
    const end = this.#line.indexOf("`", this.#at + 1);
    this.#take(end);
    const inner = this.#line.slice(this.#at, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#line.length : end + 1;
    this.#within(inner);
  }

  #dollar(): void {
    this.#at += 1;
    const next = this.#line[this.#at] ?? "";
    if (next === "(") {
      this.#within(this.#bracketed("(", ")"));
      return;
    }
    if (next === "{") {
      this.#variable(this.#bracketed("{", "}"));
      return;
    }
    if (next === "'") {
      this.#single();
      return;
    }
    const name = /^(?:\w+|[@*#?$!-])/.exec(this.#line.slice(this.#at, this.#at + 200))?.[0];
    if (name === undefined) {
      this.#add("$");
      return;
    }
    this.#at += name.length;
    this.#add("", true);
  }

  #variable(inner: string): void {
    this.#within(/[`$]/.test(inner) ? inner : "");
  }

  /** What another command prints becomes a part of the word. */
  #within(inner: string): void {
    this.#add("", true);
    if (this.#depth >= DEPTH_MAX) {
      this.isUnreadable = true;
      return;
    }
    const read = readLine(inner, this.#depth + 1);
    this.commands.push(...read.commands);
    this.isUnreadable ||= read.isUnreadable;
  }

  /** Returns what stands between brackets, of which quotes hide some. */
  #bracketed(open: string, close: string): string {
    const start = this.#at + 1;
    let depth = 0;
    for (let at = this.#at; at < this.#line.length; at += 1) {
      const character = this.#line[at];
      if (character === "\\") at += 1;
      else if (character === "'") at = this.#endOfQuote(at);
      else if (character === open) depth += 1;
      else if (character === close) depth -= 1;
      if (depth === 0) {
        this.#at = at + 1;
        return this.#line.slice(start, at);
      }
    }
    this.isUnreadable = true;
    this.#at = this.#line.length;
    return this.#line.slice(start);
  }

  #endOfQuote(at: number): number {
    const end = this.#line.indexOf("'", at + 1);
    return end < 0 ? at : end;
  }

  #comment(): void {
    const end = this.#line.indexOf("\n", this.#at);
    this.#at = end < 0 ? this.#line.length : end;
  }
}
