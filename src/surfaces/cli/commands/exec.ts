import type { OperationInput } from "../../../shared/protocol/index.ts";
import { collectOutput } from "../../client/index.ts";
import { type CommandContext, type Invocation, note } from "../context.ts";
import { streamCommand } from "../stream-command.ts";
import { hasTerminal } from "../terminal/has-terminal.ts";

/** Runs a command in a session; exits with its exit code. */
export async function run({ context, input: typed }: Invocation<object, "exec">): Promise<number> {
  const input = inRightShell(typed);
  if (context.isJson) return await execForProgram(context, input);
  if (input.tty === true && hasTerminal()) {
    const { execOnTerminal } = await import("../terminal/exec-on-terminal.ts");
    return await execOnTerminal(context, input);
  }
  if (input.tty === true && input.shell !== "own") {
    note(context, "There is no terminal here: the output shows on the session's terminal only.");
  }
  return await streamCommand(context, { input });
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
