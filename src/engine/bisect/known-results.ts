import type { CheckpointRow } from "../../portable/model/index.ts";
import type { FullVerification } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import { quoteCommand } from "../session/index.ts";

/**
 * Returns what the very same command said at a checkpoint when it was run there last, if that says
 * good or bad whatever time it is given now.
 */
export function knownResult(
  { id }: CheckpointRow,
  command: readonly string[],
  { catalog }: Engine,
): FullVerification | undefined {
  // Recorded as a line of the shell that the checkpoint's session has.
  const lines = [quoteCommand(command, "posix"), quoteCommand(command, "fish")];
  const newest = catalog.verifications.of(id).find((row) => lines.includes(row.command));
  if (newest === undefined || newest.timedOut) return undefined;
  const { checkpoint: _, ...verification } = newest;
  return isVerdict(verification.exitCode) ? verification : undefined;
}

/** 125 is a skip, and from 128 on it is none. */
function isVerdict(exitCode: number): boolean {
  return exitCode < 128 && exitCode !== 125;
}
