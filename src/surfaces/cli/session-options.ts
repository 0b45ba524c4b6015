import type { OperationInput } from "../../shared/protocol/index.ts";
import { terminalSize } from "./terminal/terminal-size.ts";

/** Returns the input of `new` with what a person has here: the terminal's size and the directory. */
export function asHere(input: OperationInput<"new">): OperationInput<"new"> {
  const cwdIfThere = currentDirectory();
  return {
    ...input,
    ...terminalSize(process.stdout),
    ...(cwdIfThere === undefined ? {} : { cwdIfThere }),
  };
}

/** The directory that somebody stands in may have been removed. */
function currentDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

/** Leaves out what was not given, so that the daemon's defaults apply. */
export function withoutUndefined<T extends Record<string, unknown>>(
  values: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
