import type { FilesPut, Holder, RestoreParts } from "../../../shared/protocol/index.ts";
import { printable } from "../text/printable.ts";
import { shownCommand } from "../text/secrets.ts";

const PATHS_SHOWN_MAX = 3;
const LEFT_OUT_SHOWN_MAX = 20;

/** Returns which parts are meant, to follow a sentence; nothing where it is all of it. */
export function describeParts({ only, ...chosen }: RestoreParts): string {
  if (only === null) return "";
  if (only === "state") return ", the agent's state alone";
  if (only === "machine") return ", and the agent's state would stay";
  return chosen.paths.length > 0
    ? describePaths(chosen)
    : `, ${only} alone${describePaths(chosen)}`;
}

/** Returns which paths are meant, to follow a sentence that speaks of files. */
export function describePaths({ paths, except }: Pick<RestoreParts, "paths" | "except">): string {
  const list = (each: readonly string[]) => each.map(printable).join(", ");
  const at = paths.length > 0 ? `, at ${list(paths)}` : "";
  return except.length > 0 ? `${at}, without ${list(except)}` : at;
}

/** Returns which processes have files open that change under them. */
export function renderHolders(holders: readonly Holder[]): string[] {
  return holders.map(({ pid, command, paths, pathsCount }) => {
    const shown = paths.slice(0, PATHS_SHOWN_MAX).map(printable).join(", ");
    const more = pathsCount - Math.min(paths.length, PATHS_SHOWN_MAX);
    const all = more > 0 ? `${shown} and ${more} more` : shown;
    return `Warning: process ${pid} (${shownCommand(command)}) has ${all} open; it goes on with what it has until it opens it again.`;
  });
}

/** Returns what became of files that were put back. */
export function renderFilesPut({
  put,
  removed,
  leftOut,
  leftOutCount,
  heldOpen,
}: FilesPut): string[] {
  const more = leftOutCount - Math.min(leftOut.length, LEFT_OUT_SHOWN_MAX);
  return [
    ...leftOut
      .slice(0, LEFT_OUT_SHOWN_MAX)
      .map(({ path, reason }) => `Left as it is: ${printable(path)} (${reason})`),
    ...(more > 0 ? [`Left as they are: ${more} more`] : []),
    ...renderHolders(heldOpen),
    `${put} put back, ${removed} removed`,
  ];
}
