import { closeSync, openSync, readSync, statSync } from "node:fs";
import { resolveInside } from "./resolve-inside.ts";

/** Numbers of ELF's `e_machine` that a machine runs, by Node's name of its architecture. */
const MACHINES: Readonly<Record<string, readonly number[]>> = {
  x64: [62, 3], // 32-bit programs run on it, too
  ia32: [3],
  arm64: [183, 40],
  arm: [40],
  riscv64: [243],
  ppc64: [21],
  s390x: [22],
  loong64: [258],
};

const MACHINE_NAMES: Readonly<Record<number, string>> = {
  3: "i386",
  8: "MIPS",
  21: "PowerPC 64",
  22: "S/390",
  40: "ARM",
  62: "x86-64",
  183: "ARM 64 (aarch64)",
  243: "RISC-V",
  258: "LoongArch",
};

const HEAD_BYTES = 4096;
const PROGRAM_HEADERS_MAX = 64;
const PT_INTERP = 3;
const INTERPRETERS_MAX = 4;

/**
 * Tells why a file cannot be run as a program inside `baseDir`, or `null` when nothing speaks
 * against it: its architecture is this machine's, and the loader or interpreter it names is there.
 */
export function findProgramFault(baseDir: string, insidePath: string, depth = 0): string | null {
  const hostPath = resolveInside(baseDir, insidePath);
  if (hostPath === null) return `${insidePath} does not exist`;
  if (!statSync(hostPath).isFile()) return `${insidePath} is no program`;
  const fd = openSync(hostPath, "r");
  try {
    const head = readAt(fd, 0, HEAD_BYTES);
    if (head.toString("latin1", 0, 4) === "\u007fELF")
      return elfFault(baseDir, insidePath, fd, head);
    if (head.toString("latin1", 0, 2) !== "#!") return `${insidePath} is no program`;
    if (depth >= INTERPRETERS_MAX) return `${insidePath} is a script of too many interpreters`;
    const interpreter = /^#!\s*(\S+)/.exec(head.toString("utf8"))?.[1] ?? "";
    if (interpreter === "" || resolveInside(baseDir, interpreter) === null) {
      return `${insidePath} is a script for ${interpreter || "nothing"}, which is missing`;
    }
    return findProgramFault(baseDir, interpreter, depth + 1);
  } finally {
    closeSync(fd);
  }
}

function elfFault(baseDir: string, insidePath: string, fd: number, head: Buffer): string | null {
  if (head.length < 64) return `${insidePath} is cut short`;
  const elf = new ElfHead(head);
  const machines = MACHINES[process.arch] ?? [];
  if (!machines.includes(elf.machine)) {
    const theirs = MACHINE_NAMES[elf.machine] ?? `machine ${elf.machine}`;
    return `${insidePath} is a program for ${theirs}, and this machine is ${process.arch}`;
  }
  const loader = elf.interpreter((offset, count) => readAt(fd, offset, count));
  if (loader === null || resolveInside(baseDir, loader) !== null) return null;
  return `${insidePath} needs the loader ${loader}, which is missing`;
}

/** The fields of an ELF header that say where a program can run. */
class ElfHead {
  readonly #bytes: Buffer;
  readonly #is64: boolean;
  readonly #isBig: boolean;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#is64 = bytes[4] === 2;
    this.#isBig = bytes[5] === 2;
  }

  get machine(): number {
    return this.#u16(this.#bytes, 18);
  }

  /** Returns the loader that the program asks the kernel for; `null` for a static one. */
  interpreter(read: (offset: number, count: number) => Buffer): string | null {
    const tableOffset = this.#word(this.#bytes, this.#is64 ? 32 : 28);
    const entryBytes = this.#u16(this.#bytes, this.#is64 ? 54 : 42);
    const count = Math.min(this.#u16(this.#bytes, this.#is64 ? 56 : 44), PROGRAM_HEADERS_MAX);
    const table = read(tableOffset, entryBytes * count);
    for (let at = 0; at + entryBytes <= table.length && entryBytes >= 32; at += entryBytes) {
      if (this.#u32(table, at) !== PT_INTERP) continue;
      const offset = this.#word(table, at + (this.#is64 ? 8 : 4));
      const sizeBytes = this.#word(table, at + (this.#is64 ? 32 : 16));
      const text = read(offset, Math.min(sizeBytes, HEAD_BYTES)).toString("utf8");
      return text.split("\0")[0] ?? "";
    }
    return null;
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
