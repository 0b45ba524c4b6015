import { statSync } from "node:fs";
import { OpenBytes } from "../../base/index.ts";
import { ElfImage } from "../../formats/elf/index.ts";
import { findMissingLibrary } from "./find-missing-library.ts";
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

const INTERPRETERS_MAX = 4;

/**
 * Tells why a file cannot be run as a program inside `baseDir`, or `null` when nothing speaks
 * against it: its architecture is this machine's, and the loader, libraries or interpreter that it
 * needs are there.
 *
 * @param withLibraries  looks for all its libraries, too, which takes some milliseconds.
 */
export function findProgramFault(
  baseDir: string,
  insidePath: string,
  { withLibraries = false, depth = 0 }: { withLibraries?: boolean; depth?: number } = {},
): string | null {
  const hostPath = resolveInside(baseDir, insidePath);
  if (hostPath === null) return `${insidePath} does not exist`;
  if (!statSync(hostPath).isFile()) return `${insidePath} is no program`;
  using file = new OpenBytes(hostPath);
  const elf = new ElfImage(file.readAt);
  if (elf.isElf) return elfFault(baseDir, insidePath, elf, withLibraries);
  if (elf.head.toString("latin1", 0, 2) !== "#!") return `${insidePath} is no program`;
  if (depth >= INTERPRETERS_MAX) return `${insidePath} is a script of too many interpreters`;
  const interpreter = /^#!\s*(\S+)/.exec(elf.head.toString("utf8"))?.[1] ?? "";
  if (interpreter === "" || resolveInside(baseDir, interpreter) === null) {
    return `${insidePath} is a script for ${interpreter || "nothing"}, which is missing`;
  }
  return findProgramFault(baseDir, interpreter, { withLibraries, depth: depth + 1 });
}

function elfFault(
  baseDir: string,
  insidePath: string,
  elf: ElfImage,
  withLibraries: boolean,
): string | null {
  if (elf.isCutShort) return `${insidePath} is cut short`;
  const machines = MACHINES[process.arch] ?? [];
  if (!machines.includes(elf.machine)) {
    const theirs = MACHINE_NAMES[elf.machine] ?? `machine ${elf.machine}`;
    return `${insidePath} is a program for ${theirs}, and this machine is ${process.arch}`;
  }
  const loader = elf.interpreter();
  if (loader === null) return null; // a static program
  if (resolveInside(baseDir, loader) === null) {
    return `${insidePath} needs the loader ${loader}, which is missing`;
  }
  const missing = withLibraries ? findMissingLibrary(baseDir, insidePath) : null;
  return missing && `${missing.neededBy} needs the library ${missing.name}, which is missing`;
}
