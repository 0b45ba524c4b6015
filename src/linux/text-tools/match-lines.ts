/** Bytes of a line that are kept; a longer one is cut. */
const LINE_BYTES_MAX = 4096;
const NUL = 0;
const NEWLINE = 0x0a;
const COLON = 0x3a;

/** A line that grep printed: `FILE NUL NUMBER : TEXT NEWLINE`. */
export interface GrepLine {
  /** Its bytes, each one character. */
  file: string;
  line: number;
  text: string;
}

/** Cuts what `grep --null --line-number --with-filename` prints into lines, in bounded memory. */
export class MatchLines {
  #file: number[] | string = [];
  #line = -1;
  #text: number[] = [];

  /** Takes the next bytes and returns the lines that are whole now. */
  push(chunk: Uint8Array): GrepLine[] {
    const lines: GrepLine[] = [];
    for (const byte of chunk) {
      const line = this.#take(byte);
      if (line !== null) lines.push(line);
    }
    return lines;
  }

  #take(byte: number): GrepLine | null {
    if (typeof this.#file !== "string") {
      if (byte === NUL) this.#file = Buffer.from(this.#file).toString("latin1");
      else this.#file.push(byte);
      return null;
    }
    if (this.#line === -1) {
      if (byte !== COLON) this.#text.push(byte);
      else {
        this.#line = Number(Buffer.from(this.#text).toString("latin1"));
        this.#text = [];
      }
      return null;
    }
    if (byte !== NEWLINE) {
      if (this.#text.length < LINE_BYTES_MAX) this.#text.push(byte);
      return null;
    }
    const text = Buffer.from(this.#text).toString("utf8").replace(/\r$/, "");
    const found = { file: this.#file, line: this.#line, text };
    this.#file = [];
    this.#line = -1;
    this.#text = [];
    return found;
  }
}

/** Cuts bytes at each NUL, into texts of which each character is a byte. */
export class NullSeparated {
  #rest = Buffer.alloc(0);

  push(chunk: Uint8Array): string[] {
    const parts = Buffer.concat([this.#rest, chunk]).toString("latin1").split("\0");
    this.#rest = Buffer.from(parts.pop() ?? "", "latin1");
    return parts;
  }
}
