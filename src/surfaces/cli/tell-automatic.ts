import type { Session } from "../../shared/protocol/index.ts";
import { printable } from "./text/printable.ts";
import { formatMinute } from "./text/quantities.ts";

/** Returns a sentence about each session whose automatic checkpoints fail, or are paused. */
export function tellAutomatic(sessions: readonly Session[]): string[] {
  return sessions.flatMap(({ name, state, auto: { policy, pausedSince, failure } }) => {
    if (state !== "running" || policy === "manual") return [];
    const session = printable(name);
    if (pausedSince !== null) {
      return [`${session}: automatic checkpoints are paused since ${formatMinute(pausedSince)}`];
    }
    if (failure === null) return [];
    const { at, message } = failure;
    return [`${session}: no automatic checkpoint at ${formatMinute(at)}: ${printable(message)}`];
  });
}
