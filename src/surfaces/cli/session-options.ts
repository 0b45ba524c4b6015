import type { OperationInput } from "../../shared/protocol/index.ts";
import { terminalSize } from "./terminal/terminal-size.ts";

/** Returns the input of `new` with this terminal's size for the session's. */
export function withTerminalSize(input: OperationInput<"new">): OperationInput<"new"> {
  return { ...input, ...terminalSize(process.stdout) };
}

/** Leaves out what was not given, so that the daemon's defaults apply. */
export function withoutUndefined<T extends Record<string, unknown>>(
  values: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
