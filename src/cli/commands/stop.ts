import { call, type Invocation, printResult } from "../context.ts";
import { printable } from "../text/printable.ts";

/** Ends a session's processes. */
export async function run({
  context,
  args,
  options,
}: Invocation<{ checkpoint: boolean }>): Promise<undefined> {
  const input = { session: args[0] ?? "", checkpoint: options.checkpoint };
  const result = await call(context, "stop", input);
  await printResult(context, result, ({ session, checkpoint }) => [
    `Session ${printable(session.name)} is stopped; its files and checkpoints are kept.`,
    ...(checkpoint === null
      ? []
      : [`Start it again with \`waypoint restore ${printable(session.name)} ${checkpoint}\`.`]),
  ]);
}
