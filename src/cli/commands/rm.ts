import { confirm } from "../confirm.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { printable } from "../text/printable.ts";

/** Removes a session. */
export async function run({
  context,
  args,
  options,
}: Invocation<{ force?: boolean; yes?: boolean }>): Promise<undefined> {
  const [session = ""] = args;
  await confirm(context, {
    question: `Remove session ${session} with its files and checkpoints? There is no way back.`,
    isAnswered: options.yes === true,
  });
  const result = await call(context, "rm", { session, force: options.force === true });
  await printResult(context, result, ({ name, checkpointsRemoved, checkpointsKept }) => [
    checkpointsRemoved === 0
      ? `Removed session ${printable(name)}.`
      : `Removed session ${printable(name)} and ${countCheckpoints(checkpointsRemoved)}.`,
    ...(checkpointsKept === 0
      ? []
      : [`Kept ${countCheckpoints(checkpointsKept)} that forks descend from.`]),
  ]);
}

function countCheckpoints(count: number): string {
  return count === 1 ? "1 checkpoint" : `${count} checkpoints`;
}
