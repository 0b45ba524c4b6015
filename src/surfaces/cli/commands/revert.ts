import { confirm, hasAsker } from "../confirm.ts";
import { call, type Invocation, printLong, printResult } from "../context.ts";
import { EXIT_CODE_LEFT_CHANGED } from "../exit-codes.ts";
import { refusedExitCode } from "../going-back/refused-exit-code.ts";
import { renderReverted, renderRevertPlan } from "../going-back/render-revert.ts";
import { lossSentence } from "../render-move.ts";

/** Lines of files that a question has before it. */
const ASKED_LINES_MAX = 20;

interface RevertOptions {
  dryRun?: boolean;
  yes?: boolean;
}

/** Takes back what changed in files between two checkpoints. */
export async function run({
  context,
  options,
  input,
}: Invocation<RevertOptions, "revert">): Promise<number | undefined> {
  const { loseProcesses: _, withoutUndo: __, check: ___, ...asked } = input;
  const { session } = input;
  const { paint } = context.output;
  const isAnswered = options.yes === true;
  if (options.dryRun === true || (!isAnswered && hasAsker(context))) {
    const linesMax = options.dryRun === true ? Number.POSITIVE_INFINITY : ASKED_LINES_MAX;
    const plan = await call(context, "revert.plan", asked);
    const print = options.dryRun === true ? printLong : printResult;
    await print(context, plan, (shown) => renderRevertPlan(shown, { paint, linesMax }));
    const conflictsCode = plan.conflictsCount > 0 ? EXIT_CODE_LEFT_CHANGED : undefined;
    if (options.dryRun === true) return refusedExitCode(plan) ?? conflictsCode;
  }
  await confirm(context, {
    question: `Take that back in session ${session}? ${lossSentence(input)}`,
    isAnswered,
  });
  const result = await call(context, "revert", input);
  await printResult(context, result, (shown) => renderReverted(shown, session));
  return result.conflictsCount > 0 ? EXIT_CODE_LEFT_CHANGED : undefined;
}
