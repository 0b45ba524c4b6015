import { type CommandContext, call, type Invocation, printResult } from "../context.ts";
import { printable } from "../text/printable.ts";
import { tryEach } from "../try-each.ts";

/** Ends the processes of sessions. */
export async function run({
  context,
  rest,
  options: { checkpoint },
}: Invocation<{ checkpoint: boolean }>): Promise<undefined> {
  await tryEach(rest, (session) => stop({ session, checkpoint }, context));
}

async function stop(
  input: { session: string; checkpoint: boolean },
  context: CommandContext,
): Promise<void> {
  const result = await call(context, "stop", input);
  await printResult(context, result, ({ session, checkpoint }) => [
    `Session ${printable(session.name)} is stopped; its files and checkpoints are kept.`,
    ...(checkpoint === null
      ? []
      : [`Start it again with \`waypoint start ${printable(session.name)}\`.`]),
  ]);
}
