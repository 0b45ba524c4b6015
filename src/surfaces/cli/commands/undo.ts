import { confirmTyping } from "../confirm-typing.ts";
import { type CommandContext, call, type Invocation, printResult } from "../context.ts";
import { type LossOptions, lossInput, renderMove } from "../render-move.ts";
import { withoutUndefined } from "../session-options.ts";

interface UndoOptions extends LossOptions {
  withoutBinds?: boolean;
  whileTyping?: boolean;
  /** `false` with --no-check. */
  check?: boolean;
}

/** Takes a restore or another operation back. */
export async function run({
  context,
  args,
  options,
}: Invocation<UndoOptions>): Promise<number | undefined> {
  const [session = "", number] = args;
  const { withoutBinds, check = true } = options;
  const operation = number === undefined ? undefined : Number(number);
  if (operation !== undefined && (await isApply(context, session, operation))) {
    const { takeBack } = await import("./apply.ts");
    return await takeBack(context, operation, { dryRun: false, force: false });
  }
  const choice = { ...withoutUndefined({ withoutBinds, operation }), ...lossInput(options), check };
  const moved = await confirmTyping(
    context,
    { isAnswered: options.whileTyping === true },
    (typing) => call(context, "undo", { session, ...choice, ...typing }),
  );
  await printResult(context, moved, () =>
    renderMove({ moved, sessionRef: session, verb: "is again at", loss: options }),
  );
  return undefined;
}

/** What went out of the sandbox is taken back on this machine, not in the session. */
async function isApply(
  context: CommandContext,
  session: string,
  operation: number,
): Promise<boolean> {
  const { operations } = await call(context, "op.log", { session });
  return operations.some(({ id, kind }) => id === operation && kind === "apply");
}
