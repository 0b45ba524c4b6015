import { WaypointError } from "../../../shared/errors/index.ts";
import type { OperationInput } from "../../../shared/protocol/index.ts";
import { collectOutput } from "../../client/index.ts";
import { type CommandContext, type Invocation, note } from "../context.ts";
import { withoutUndefined } from "../session-options.ts";
import { streamCommand } from "../stream-command.ts";
import { attachTerminal, describeEnd, hasTerminal } from "../terminal/attach-terminal.ts";
import { DETACH_KEYS_DEFAULT } from "../terminal/detach-keys.ts";

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
  if (options.tty === true && hasTerminal()) return await execOnTerminal(context, input);
  if (options.tty === true) {
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
        hint: "Leave out --tty, --timeout, --stdin, --cwd or --shell own.",
      },
    );
  }
  const attached = { session, command, detachKeys: DETACH_KEYS_DEFAULT };
  const { reason, exitCode } = await attachTerminal(context, attached);
  if (reason !== "ended") note(context, describeEnd(session, reason));
  return exitCode ?? 0;
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
