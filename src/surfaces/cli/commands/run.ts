import { collectOutput } from "../../client/index.ts";
import { type CommandContext, call, type Invocation, note } from "../context.ts";
import { asHere } from "../session-options.ts";
import { streamCommand } from "../stream-command.ts";
import { attachTerminal, describeEnd, hasTerminal } from "../terminal/attach-terminal.ts";
import { parseDetachKeys } from "../terminal/detach-keys.ts";

/** Starts a session and runs a command in its terminal. */
export async function run({
  context,
  rest,
  options,
  input: given,
}: Invocation<{ detachKeys: string }, "new">): Promise<number> {
  // Wrong keys must be refused before there is a session.
  parseDetachKeys(options.detachKeys);
  const session = await call(context, "new", asHere(given));
  if (context.isJson) return await runForProgram(context, session, rest);
  note(context, `Session ${session.name} is running (${session.id})`);
  const input = { session: session.id, command: [...rest] };
  if (!hasTerminal()) return await streamCommand(context, { input });
  const { detachKeys } = options;
  const attached = { session: session.name, detachKeys, command: rest };
  const { reason, exitCode } = await attachTerminal(context, attached);
  const isDone = reason === "ended";
  const end = `The command has ended; session ${session.name} lives on.`;
  note(context, isDone ? end : describeEnd(session.name, reason));
  return exitCode ?? 0;
}

async function runForProgram(
  context: CommandContext,
  session: { id: string; name: string },
  command: readonly string[],
): Promise<number> {
  const input = { session: session.id, command: [...command] };
  return await streamCommand(context, {
    input,
    consume: async (stream) => {
      const result = await collectOutput(stream);
      await context.output.json({ id: session.id, name: session.name, ...result });
      return result;
    },
  });
}
