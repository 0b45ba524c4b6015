import { call, type Invocation, note, printLong } from "../context.ts";
import { EXIT_CODE_CONFLICTS } from "../exit-codes.ts";
import { renderPlan } from "../render-plan.ts";
import { printable } from "../text/printable.ts";
import { hideSecrets } from "../text/secrets.ts";

/** Takes the file changes of another branch into a live session. */
export async function run({
  context,
  input,
}: Invocation<object, "merge">): Promise<number | undefined> {
  const { session, dryRun = false } = input;
  const result = await call(context, "merge", input);
  const what = { done: "merged", isDryRun: dryRun, target: `session ${session}` };
  await printLong(context, result, (shown) => renderPlan(shown, what, context.output.paint));
  for (const { pid, command, path } of result.holders) {
    note(
      context,
      printable(`Process ${pid} (${hideSecrets(command)}) still has the old ${path} open.`),
    );
  }
  if (result.isDone) {
    const before = result.before === null ? "" : `Undo point: ${result.before}. `;
    note(context, `${before}Take it back with \`waypoint undo ${session}\`.`);
  }
  return result.totals.conflicts > 0 ? EXIT_CODE_CONFLICTS : undefined;
}
