const HEAD_BYTES = 4096;
const PROGRAM_HEADERS_MAX = 64;
const TABLE_BYTES_MAX = 1024 * 1024;
/** Shells have some thousand symbols. */
const SYMBOLS_BYTES_MAX = 4 * 1024 * 1024;
const SECTIONS_MAX = 256;

const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;

const SHT_DYNSYM = 11;
const SECTION_BYTES = 64;
const SYMBOL_BYTES = 24;

const DT_NEEDED = 1;
const DT_STRTAB = 5;
const DT_STRSZ = 10;
const DT_RPATH = 15;
const DT_RUNPATH = 29;

/** What a program or library asks its loader for. */
export interface ElfDynamic {
  /** Names of libraries, in the loader's order. */
  needed: string[];
  /** Directories in which it looks first, as written: `$ORIGIN` and all. */
  searchDirs: string[];
}

/** Reads bytes of the file, as many as there are; none where the offset is none. */
export type ReadAt = (offset: number, count: number) => Buffer;

interface Segment {
  type: number;
  offset: number;
  address: number;
  sizeBytes: number;
}

/** A program or library, read as far as it is asked for; a damaged one has empty fields. */
export class ElfImage {
  readonly #readAt: ReadAt;
  readonly #head: Buffer;
  #segments: Segment[] | undefined;

  constructor(readAt: ReadAt) {
    this.#readAt = readAt;
    this.#head = readAt(0, HEAD_BYTES);
  }

  /** The file's beginning, whatever it is. */
  get head(): Buffer {
    return this.#head;
  }

  get isElf(): boolean {
    return this.#head.toString("latin1", 0, 4) === "\u007fELF";
  }

  get isCutShort(): boolean {
    return this.#head.length < 64;
  }

  get machine(): number {
    return this.#u16(this.#head, 18);
  }

  /** Returns the loader that the program asks the kernel for; `null` for a static one. */
  interpreter(): string | null {
    const segment = this.#find(PT_INTERP);
    if (segment === undefined) return null;
    const { offset, sizeBytes } = segment;
    const text = this.#readAt(offset, Math.min(sizeBytes, HEAD_BYTES)).toString("utf8");
    return text.split("\0")[0] ?? "";
  }

  /** Returns what the loader has to bring. */
  dynamic(): ElfDynamic {
    const segment = this.#find(PT_DYNAMIC);
    const entries = segment === undefined ? [] : this.#entries(segment);
    const numberOf = (tag: number) => entries.find((entry) => entry.tag === tag)?.value ?? 0;
    const sizeBytes = Math.min(numberOf(DT_STRSZ), TABLE_BYTES_MAX);
    const strings = this.#readAt(this.#offsetOf(numberOf(DT_STRTAB)), sizeBytes);
    const text = (at: number) => strings.toString("utf8", at).split("\0")[0] ?? "";
    const all = (...tags: number[]) =>
      entries.filter(({ tag }) => tags.includes(tag)).map(({ value }) => text(value));
    return {
      needed: all(DT_NEEDED).filter((name) => name !== ""),
      searchDirs: all(DT_RPATH, DT_RUNPATH).flatMap((list) => list.split(":").filter(Boolean)),
    };
  }

  /**
   * Returns where a program has the symbols that it shows to libraries and modules, by name, counted from
   * the beginning of its file in memory. Those that it does not define are missing.
   *
   * @throws Error  the file is no 64-bit program of this kind of machine, or is damaged.
   */
  symbols(names: readonly string[]): Map<string, number> {
    if (!this.isElf || this.isCutShort || !this.#is64 || this.#isBig) {
      throw new Error("the shell is no 64-bit program");
    }
    const firstAddress = this.#firstAddress();
    const [symbols, texts] = this.#symbolTables();
    const found = new Map<string, number>();
    const wanted = names.map((name) => ({ name, bytes: Buffer.from(`${name}\0`, "latin1") }));
    for (let at = 0; at + SYMBOL_BYTES <= symbols.length; at += SYMBOL_BYTES) {
      const address = this.#word(symbols, at + 8);
      if (address === 0) continue;
      const start = this.#u32(symbols, at);
      const named = wanted.find(({ bytes }) =>
        texts.subarray(start, start + bytes.length).equals(bytes),
      );
      if (named !== undefined) found.set(named.name, address - firstAddress);
    }
    return found;
  }

  /** The address for which the beginning of the file was linked. */
  #firstAddress(): number {
    this.#segments ??= this.#readSegments();
    const first = this.#segments.find(({ type, offset }) => type === PT_LOAD && offset === 0);
    if (first === undefined) throw new Error("the shell's program has no beginning in memory");
    return first.address;
  }

  /** The table of symbols, and that of their names. */
  #symbolTables(): readonly [Buffer, Buffer] {
    const count = Math.min(this.#u16(this.#head, 60), SECTIONS_MAX);
    const headers = this.#whole(this.#word(this.#head, 40), count * SECTION_BYTES);
    const header = (index: number) =>
      headers.subarray(index * SECTION_BYTES, (index + 1) * SECTION_BYTES);
    const sections = Array.from({ length: count }, (_, index) => header(index));
    const table = sections.find((section) => this.#u32(section, 4) === SHT_DYNSYM);
    const strings = table === undefined ? undefined : sections[this.#u32(table, 40)];
    if (table === undefined || strings === undefined) return [Buffer.alloc(0), Buffer.alloc(0)];
    const content = (section: Buffer) =>
      this.#whole(this.#word(section, 24), this.#word(section, 32));
    return [content(table), content(strings)];
  }

  #whole(offset: number, sizeBytes: number): Buffer {
    if (sizeBytes > SYMBOLS_BYTES_MAX) throw new Error("the shell's program has a table too large");
    const bytes = this.#readAt(offset, sizeBytes);
    if (bytes.length < sizeBytes) throw new Error("the shell's program is cut off");
    return bytes;
  }

  get #is64(): boolean {
    return this.#head[4] === 2;
  }

  #find(type: number): Segment | undefined {
    this.#segments ??= this.#readSegments();
    return this.#segments.find((segment) => segment.type === type);
  }

  #readSegments(): Segment[] {
    const tableOffset = this.#word(this.#head, this.#is64 ? 32 : 28);
    const entryBytes = this.#u16(this.#head, this.#is64 ? 54 : 42);
    const count = Math.min(this.#u16(this.#head, this.#is64 ? 56 : 44), PROGRAM_HEADERS_MAX);
    if (entryBytes < (this.#is64 ? 56 : 32)) return [];
    const table = this.#readAt(tableOffset, entryBytes * count);
    const segments: Segment[] = [];
    for (let at = 0; at + entryBytes <= table.length; at += entryBytes) {
      segments.push({
        type: this.#u32(table, at),
        offset: this.#word(table, at + (this.#is64 ? 8 : 4)),
        address: this.#word(table, at + (this.#is64 ? 16 : 8)),
        sizeBytes: this.#word(table, at + (this.#is64 ? 32 : 16)),
      });
    }
    return segments;
  }

  #entries({ offset, sizeBytes }: Segment): { tag: number; value: number }[] {
    const wordBytes = this.#is64 ? 8 : 4;
    const bytes = this.#readAt(offset, Math.min(sizeBytes, TABLE_BYTES_MAX));
    const entries: { tag: number; value: number }[] = [];
    for (let at = 0; at + 2 * wordBytes <= bytes.length; at += 2 * wordBytes) {
      const tag = this.#word(bytes, at);
      if (tag === 0) break;
      entries.push({ tag, value: this.#word(bytes, at + wordBytes) });
    }
    return entries;
  }

  /** Returns where in the file lies what is loaded at an address. */
  #offsetOf(address: number): number {
    const holds = ({ type, address: start, sizeBytes }: Segment) =>
      type === PT_LOAD && address >= start && address < start + sizeBytes;
    const segment = this.#segments?.find(holds);
    return segment === undefined ? Number.NaN : address - segment.address + segment.offset;
  }

  get #isBig(): boolean {
    return this.#head[5] === 2;
  }

  #u16(from: Buffer, at: number): number {
    return this.#isBig ? from.readUInt16BE(at) : from.readUInt16LE(at);
  }

  #u32(from: Buffer, at: number): number {
    return this.#isBig ? from.readUInt32BE(at) : from.readUInt32LE(at);
  }

  #word(from: Buffer, at: number): number {
    if (!this.#is64) return this.#u32(from, at);
    return Number(this.#isBig ? from.readBigUInt64BE(at) : from.readBigUInt64LE(at));
  }
}
