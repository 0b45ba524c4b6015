import path from "node:path";
import { OpenBytes } from "../../base/index.ts";
import {
  BashPrinter,
  type MemoryStretch,
  MemoryView,
  readBashFunctions,
  readBashVariables,
} from "../../formats/bash-memory/index.ts";
import { ElfImage } from "../../formats/elf/index.ts";

/** A shell whose memory is to be read. */
export interface ShellMemory {
  /** Its program's path inside the session, by which its kind is known. */
  programPath: string;
  /** The same program's file, where it can be opened. */
  filePath: string | Buffer;
  /** Where the beginning of the program's file lies in its memory. */
  address: number;
  memory: readonly MemoryStretch[];
  /** How much of its variables is read, and of its functions. @defaultValue 16 MiB */
  textBytesMax?: number;
}

/** What a shell has at one moment; what cannot be read says why instead. */
export interface ShellState {
  /** Exported variables, by name. */
  environment: ReadonlyMap<string, string> | { unknown: string };
  /** Functions, by name: how they are written. */
  functions: ReadonlyMap<string, string> | { unknown: string };
}

const BASH_SYMBOLS = ["global_variables", "shell_functions"] as const;
const ENVIRON = "environ";
const VARIABLES_MAX = 100_000;
/** Of all functions together, as they are written: many can share their commands. */
const TEXT_BYTES_MAX = 16 * 1024 * 1024;
/** Functions of Waypoint's own shell integration. */
const OWN_PREFIX = "__waypoint_";

/**
 * Returns what a shell has, from its memory alone: the shell is not asked, and need not be at its
 * prompt. Never rejects because of what the memory holds.
 */
export async function readShellMemory(shell: ShellMemory): Promise<ShellState> {
  const name = path.posix.basename(shell.programPath);
  const memory = new MemoryView(shell.memory, shell.textBytesMax);
  if (/^r?bash/.test(name)) return await readBash(shell, memory);
  const functions = { unknown: `the functions of ${name} cannot be read from its memory` };
  if (/^r?zsh/.test(name)) return { environment: await readZsh(shell, memory), functions };
  return {
    environment: { unknown: `the variables of ${name} cannot be read from its memory` },
    functions,
  };
}

function symbolsOf(filePath: string | Buffer, names: readonly string[]): Map<string, number> {
  using file = new OpenBytes(filePath);
  return new ElfImage(file.readAt).symbols(names);
}

async function readBash(shell: ShellMemory, memory: MemoryView): Promise<ShellState> {
  const symbols = await attempt(() => symbolsOf(shell.filePath, BASH_SYMBOLS));
  if ("unknown" in symbols) return { environment: symbols, functions: symbols };
  const [variables, functions] = BASH_SYMBOLS.map((name) => symbols.get(name));
  if (variables === undefined || functions === undefined) {
    const unknown = "this bash does not show where it keeps its variables";
    return { environment: { unknown }, functions: { unknown } };
  }
  const roots = {
    variables: shell.address + variables,
    functions: shell.address + functions,
  };
  return {
    environment: await attempt(() => readBashVariables(memory, roots)),
    functions: await attempt(() =>
      printFunctions(memory, readBashFunctions(memory, roots), shell.textBytesMax),
    ),
  };
}

function printFunctions(
  memory: MemoryView,
  bodies: ReadonlyMap<string, number>,
  charactersMax = TEXT_BYTES_MAX,
) {
  const printer = new BashPrinter(memory);
  const printed = new Map<string, string>();
  let charactersLeft = charactersMax;
  for (const [name, body] of bodies) {
    if (name.startsWith(OWN_PREFIX)) continue;
    const text = printer.printFunction(name, body);
    charactersLeft -= text.length;
    if (charactersLeft < 0) throw new Error("the functions of the shell are too long");
    printed.set(name, text);
  }
  return printed;
}

/** zsh keeps the environment of the programs that it starts up to date in libc's `environ`. */
async function readZsh(shell: ShellMemory, memory: MemoryView): Promise<ShellState["environment"]> {
  return await attempt(async () => {
    const symbols = symbolsOf(shell.filePath, [ENVIRON]);
    const environ = symbols.get(ENVIRON);
    if (environ === undefined) throw new Error("this zsh does not show where its environment is");
    const found = new Map<string, string>();
    const list = memory.pointer(shell.address + environ);
    for (let index = 0; index < VARIABLES_MAX; index += 1) {
      const at = memory.pointer(list + index * 8);
      if (at === 0) return found;
      const [name = "", ...value] = memory.text(at).split("=");
      found.set(name, value.join("="));
    }
    throw new Error("the environment of the shell has no end");
  });
}

async function attempt<T>(read: () => T | Promise<T>): Promise<T | { unknown: string }> {
  try {
    return await read();
  } catch (error) {
    return { unknown: error instanceof Error ? error.message : String(error) };
  }
}
