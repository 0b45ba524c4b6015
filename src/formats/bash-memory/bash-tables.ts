import type { MemoryView } from "./memory-view.ts";

/** Where bash's variables begin in its memory. */
export interface BashRoots {
  /** Address of `global_variables`. */
  variables: number;
  /** Address of `shell_functions`. */
  functions: number;
}

// variables.h: struct var_context, struct variable
const CONTEXT_TABLE = 32;
const VARIABLE = { name: 0, value: 8, attributes: 40 } as const;
// hashlib.h: struct hash_table, struct bucket_contents
const TABLE = { buckets: 0, bucketCount: 8, entryCount: 12 } as const;
const BUCKET = { next: 0, key: 8, data: 16 } as const;

const ATTRIBUTE = { exported: 0x1, array: 0x4, function: 0x8, associative: 0x40, unset: 0x1000 };
const NOT_A_TEXT = ATTRIBUTE.array | ATTRIBUTE.function | ATTRIBUTE.associative | ATTRIBUTE.unset;

const ENTRIES_MAX = 100_000;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Returns the exported variables of a bash, as a program that it starts at its prompt gets them.
 *
 * @throws Error  its memory does not hold what a bash's does.
 */
export function readBashVariables(memory: MemoryView, { variables }: BashRoots) {
  const table = memory.pointer(memory.pointer(variables) + CONTEXT_TABLE);
  const found = new Map<string, string>();
  for (const { name, variable } of entries(memory, table)) {
    const attributes = memory.integer(variable + VARIABLE.attributes);
    const value = memory.pointer(variable + VARIABLE.value);
    const isTold = (attributes & ATTRIBUTE.exported) !== 0 && (attributes & NOT_A_TEXT) === 0;
    if (isTold && value !== 0 && VARIABLE_NAME.test(name)) found.set(name, memory.text(value));
  }
  return found;
}

/** Returns where the body of each function of a bash is, by its name. @throws Error */
export function readBashFunctions(memory: MemoryView, { functions }: BashRoots) {
  const found = new Map<string, number>();
  for (const { name, variable } of entries(memory, memory.pointer(functions))) {
    const isFunction = (memory.integer(variable + VARIABLE.attributes) & ATTRIBUTE.function) !== 0;
    if (!isFunction) throw new Error("the shell's memory holds no table of functions");
    found.set(name, memory.pointer(variable + VARIABLE.value));
  }
  return found;
}

/** What does not hold in every bash, or while a table is changed, must end here and not as a lie. */
function entries(memory: MemoryView, table: number): { name: string; variable: number }[] {
  const bucketCount = memory.integer(table + TABLE.bucketCount);
  const entryCount = memory.integer(table + TABLE.entryCount);
  const isSound = bucketCount > 0 && bucketCount <= ENTRIES_MAX && entryCount >= 0;
  if (!isSound || entryCount > ENTRIES_MAX) throw new Error("the shell's memory holds no table");
  const found: { name: string; variable: number }[] = [];
  // A table that nothing was put into has no buckets yet.
  const buckets = entryCount === 0 ? 0 : memory.pointer(table + TABLE.buckets);
  for (let index = 0; buckets !== 0 && index < bucketCount; index += 1) {
    let bucket = memory.pointer(buckets + index * 8);
    for (; bucket !== 0; bucket = memory.pointer(bucket + BUCKET.next)) {
      const name = memory.text(memory.pointer(bucket + BUCKET.key));
      const variable = memory.pointer(bucket + BUCKET.data);
      const isNamed = memory.text(memory.pointer(variable + VARIABLE.name)) === name;
      if (!isNamed || found.length === entryCount)
        throw new Error("a table of the shell is broken");
      found.push({ name, variable });
    }
  }
  if (found.length !== entryCount) throw new Error("a table of the shell is incomplete");
  return found;
}
