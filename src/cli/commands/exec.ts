import { collectOutput } from "../../client/index.ts";
import type { OperationInput } from "../../protocol/index.ts";
import { type CommandContext, type Invocation, note } from "../context.ts";
import { withoutUndefined } from "../session-options.ts";
import { streamCommand } from "../stream-command.ts";
import { hasTerminal } from "../terminal/attach-terminal.ts";

interface ExecOptions {
  tty?: boolean;
  timeout?: number;
  shell?: "live" | "own";
  cwd?: string;
  stdin?: boolean;
}

/** Runs a command in a session; exits with its exit code. */
export async function run({
  context,
  args,
  rest,
  options,
}: Invocation<ExecOptions>): Promise<number> {
  const input = execInput(args[0] ?? "", rest, options);
  if (context.isJson) return await execForProgram(context, input);
  if (options.tty === true && hasTerminal()) {
    const { execOnTerminal } = await import("../terminal/exec-terminal.ts");
    return await execOnTerminal(context, input);
  }
  return await streamCommand(context, { input });
}

function execInput(
  session: string,
  command: readonly string[],
  options: ExecOptions,
): OperationInput<"exec"> {
  const { tty, timeout, cwd, stdin } = options;
  // Standard input and a directory belong to a process of its own, so asking for them asks for it.
  const shell = options.shell ?? (stdin || cwd !== undefined ? "own" : undefined);
  const given = withoutUndefined({ tty, timeoutMs: timeout, shell, cwd, stdin });
  return { ...given, session, command: [...command] };
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
