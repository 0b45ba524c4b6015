import { WaypointError } from "../../../shared/errors/index.ts";
import type { OperationInput } from "../../../shared/protocol/index.ts";
import { detachKeysFor } from "../config/use-config.ts";
import { type CommandContext, note } from "../context.ts";
import { attachTerminal, describeEnd } from "./attach-terminal.ts";
import { runOnOwnTerminal } from "./own-terminal.ts";

/**
 * Runs a command on a terminal and returns its exit code: a terminal of its own is shown here, what runs on
 * the session's shows by an attachment.
 */
export async function execOnTerminal(
  context: CommandContext,
  input: OperationInput<"exec">,
): Promise<number> {
  const { session, command, timeoutMs, shell } = input;
  const detachKeys = await detachKeysFor(context, undefined);
  if (shell === "own") return await runOnOwnTerminal(context, input, detachKeys);
  if (timeoutMs !== undefined) {
    throw new WaypointError("USAGE_INVALID", "The session's terminal has no time limit.", {
      hint: "Add --shell own: a terminal of the command's own has one.",
    });
  }
  const attached = { session, command, detachKeys };
  const { reason, exitCode } = await attachTerminal(context, attached);
  if (reason !== "ended") note(context, describeEnd(session, reason));
  return exitCode ?? 0;
}
