import { confirm, hasAsker } from "../confirm.ts";
import { call, type Invocation, printLong, printResult } from "../context.ts";
import { EXIT_CODE_LEFT_CHANGED } from "../exit-codes.ts";
import { refusedExitCode } from "../going-back/refused-exit-code.ts";
import { renderReverted, renderRevertPlan } from "../going-back/render-revert.ts";
import { type LossOptions, lossInput, lossSentence } from "../render-move.ts";
import { withoutUndefined } from "../session-options.ts";

/** Lines of files that a question has before it. */
const ASKED_LINES_MAX = 20;

interface RevertOptions extends LossOptions {
  dryRun?: boolean;
  yes?: boolean;
  force?: boolean;
  except?: string[];
  /** `false` with --no-check. */
  check?: boolean;
}

/** Takes back what changed in files between two checkpoints. */
export async function run({
  context,
  args,
  rest,
  options,
}: Invocation<RevertOptions>): Promise<number | undefined> {
  const [session = "", from = "", to = ""] = args;
  const { force = false, except, check = true } = options;
  const asked = { session, from, to, force, paths: [...rest], ...withoutUndefined({ except }) };
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
    question: `Take that back in session ${session}? ${lossSentence(options)}`,
    isAnswered,
  });
  const result = await call(context, "revert", { ...asked, ...lossInput(options), check });
  await printResult(context, result, (shown) => renderReverted(shown, session));
  return result.conflictsCount > 0 ? EXIT_CODE_LEFT_CHANGED : undefined;
}
