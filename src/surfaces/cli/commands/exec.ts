import { WaypointError } from "../../../shared/errors/index.ts";
import type { OperationInput } from "../../../shared/protocol/index.ts";
import { collectOutput } from "../../client/index.ts";
import { detachKeysFor } from "../config/use-config.ts";
import { type CommandContext, type Invocation, note } from "../context.ts";
import { streamCommand } from "../stream-command.ts";
import { attachTerminal, describeEnd, hasTerminal } from "../terminal/attach-terminal.ts";

/** Runs a command in a session; exits with its exit code. */
export async function run({ context, input: typed }: Invocation<object, "exec">): Promise<number> {
  const input = inRightShell(typed);
  if (context.isJson) return await execForProgram(context, input);
  if (input.tty === true && hasTerminal()) return await execOnTerminal(context, input);
  if (input.tty === true) {
    note(context, "There is no terminal here: the output shows on the session's terminal only.");
  }
  return await streamCommand(context, { input });
}

/** What runs on the session's terminal shows there, so this terminal is attached meanwhile. */
async function execOnTerminal(
  context: CommandContext,
  { session, command, timeoutMs, shell }: OperationInput<"exec">,
): Promise<number> {
  if (timeoutMs !== undefined || shell === "own") {
    throw new WaypointError(
      "USAGE_INVALID",
      "The session's terminal has no time limit or own shell.",
      {
        hint: "Leave out --tty, --timeout, --stdin, --cwd, --user, --env or --shell own.",
      },
    );
  }
  const detachKeys = await detachKeysFor(context, undefined);
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
