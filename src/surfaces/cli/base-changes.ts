import type { OperationOutput } from "../../shared/protocol/index.ts";
import { type CommandContext, call } from "./context.ts";
import { printable } from "./text/printable.ts";
import { formatAge, formatSize } from "./text/quantities.ts";

/** A person waits this long to hear how many there are; the list is waited for. */
const COUNT_WAIT_MS = 300;

type BaseChanges = OperationOutput<"base.changes">;

/**
 * Returns what has changed in the base since a checkpoint, where that is asked for, or where a person
 * reads and it can be counted soon; else `null`.
 */
export async function findBaseChanges(
  context: CommandContext,
  checkpoint: string,
  isAsked: boolean,
  path?: string,
): Promise<BaseChanges | null> {
  const wanted = { checkpoint, ...(path === undefined ? {} : { path }) };
  if (isAsked) return await call(context, "base.changes", wanted);
  if (context.isJson || !context.output.isTerminal) return null;
  return await call(context, "base.changes", { ...wanted, waitMs: COUNT_WAIT_MS });
}

/** Returns how many files of the base are others than at the checkpoint, and which, as far as is known. */
export function renderBaseChanges(
  found: BaseChanges | null,
  nowMs: number,
  option = "--base-changes",
): string[] {
  if (found === null || !found.isLive || found.count === 0) return [];
  const { count, isComplete, base, checkpoint, files } = found;
  const what = base === "/" ? "this machine" : `the base ${printable(base)}`;
  if (count === null) {
    return [`Files of ${what} may have changed since ${checkpoint}: ${option} lists them.`];
  }
  const number = `${isComplete ? "" : "Over "}${count} ${count === 1 ? "file" : "files"}`;
  const told = `Not as they were: ${number} of ${what}, changed since ${checkpoint}`;
  if (files.length === 0) return [`${told}: ${option} lists them.`];
  return [
    `${told}:`,
    ...files.map(
      ({ path, changedAt, sizeBytes }) =>
        `  ${printable(path)}  ${formatSize(sizeBytes)}, ${formatAge(changedAt, nowMs)} ago`,
    ),
  ];
}

/** Adds them to a result for programs, where they were asked for. */
export function withBaseChanges<T extends object>(result: T, found: BaseChanges | null): T {
  return found === null ? result : { ...result, baseChanges: found };
}
