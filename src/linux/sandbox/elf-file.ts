import { closeSync, openSync, readSync } from "node:fs";

const HEAD_BYTES = 4096;
const PROGRAM_HEADERS_MAX = 64;
const TABLE_BYTES_MAX = 1024 * 1024;

const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;

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

interface Segment {
  type: number;
  offset: number;
  address: number;
  sizeBytes: number;
}

/** A program or library, read as far as tells where it can run; a damaged one has empty fields. */
export class ElfFile implements Disposable {
  readonly #fd: number;
  readonly #head: Buffer;
  #segments: Segment[] | undefined;

  private constructor(fd: number, head: Buffer) {
    this.#fd = fd;
    this.#head = head;
  }

  static open(hostPath: string): ElfFile {
    const fd = openSync(hostPath, "r");
    return new ElfFile(fd, readAt(fd, 0, HEAD_BYTES));
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
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
    const text = readAt(this.#fd, offset, Math.min(sizeBytes, HEAD_BYTES)).toString("utf8");
    return text.split("\0")[0] ?? "";
  }

  /** Returns what the loader has to bring. */
  dynamic(): ElfDynamic {
    const segment = this.#find(PT_DYNAMIC);
    const entries = segment === undefined ? [] : this.#entries(segment);
    const numberOf = (tag: number) => entries.find((entry) => entry.tag === tag)?.value ?? 0;
    const sizeBytes = Math.min(numberOf(DT_STRSZ), TABLE_BYTES_MAX);
    const strings = readAt(this.#fd, this.#offsetOf(numberOf(DT_STRTAB)), sizeBytes);
    const text = (at: number) => strings.toString("utf8", at).split("\0")[0] ?? "";
    const all = (...tags: number[]) =>
      entries.filter(({ tag }) => tags.includes(tag)).map(({ value }) => text(value));
    return {
      needed: all(DT_NEEDED).filter((name) => name !== ""),
      searchDirs: all(DT_RPATH, DT_RUNPATH).flatMap((list) => list.split(":").filter(Boolean)),
    };
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
    const table = readAt(this.#fd, tableOffset, entryBytes * count);
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
    const bytes = readAt(this.#fd, offset, Math.min(sizeBytes, TABLE_BYTES_MAX));
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

/** Reads what there is; a damaged header may point anywhere. */
function readAt(fd: number, offset: number, count: number): Buffer {
  if (count === 0 || !Number.isSafeInteger(offset)) return Buffer.alloc(0);
  const bytes = Buffer.alloc(count);
  return bytes.subarray(0, readSync(fd, bytes, 0, count, offset));
}
