import { WaypointError } from "../../../shared/errors/index.ts";
import type { OperationInput } from "../../../shared/protocol/index.ts";
import { collectOutput } from "../../client/index.ts";
import { detachKeysFor } from "../config/use-config.ts";
import { type CommandContext, type Invocation, note } from "../context.ts";
import { streamCommand } from "../stream-command.ts";
import { attachTerminal, describeEnd, hasTerminal } from "../terminal/attach-terminal.ts";
import { runOnOwnTerminal } from "../terminal/own-terminal.ts";

/** Runs a command in a session; exits with its exit code. */
export async function run({ context, input: typed }: Invocation<object, "exec">): Promise<number> {
  const input = inRightShell(typed);
  if (context.isJson) return await execForProgram(context, input);
  if (input.tty === true && hasTerminal()) return await execOnTerminal(context, input);
  if (input.tty === true && input.shell !== "own") {
    note(context, "There is no terminal here: the output shows on the session's terminal only.");
  }
  return await streamCommand(context, { input });
}

/** A terminal of its own is shown here; what runs on the session's terminal shows by an attachment. */
async function execOnTerminal(
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

/** Standard input, a directory, a user and variables ask for a process of its own: it has them. */
function inRightShell(input: OperationInput<"exec">): OperationInput<"exec"> {
  const { shell, stdin, cwd, user, env } = input;
  const isOwn = stdin || cwd !== undefined || user !== undefined || env !== undefined;
  return shell === undefined && isOwn ? { ...input, shell: "own" } : input;
}

async function execForProgram(
  context: CommandContext,
  input: OperationInput<"exec">,
): Promise<number> {
  return await streamCommand(context, {
    input,
    consume: async (stream) => {
      const onNotice = (notice: string) => note(context, notice);
      const result = await collectOutput(stream, { onNotice });
      await context.output.json(result);
      return result;
    },
  });
}
