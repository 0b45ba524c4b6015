import { confirmTyping } from "../confirm-typing.ts";
import { type CommandContext, call, type Invocation, printResult } from "../context.ts";
import { renderMove } from "../render-move.ts";

/** Takes a restore or another operation back. */
export async function run({
  context,
  input,
}: Invocation<object, "undo">): Promise<number | undefined> {
  const { session, operation } = input;
  if (operation !== undefined && (await isApply(context, session, operation))) {
    const { takeBack } = await import("./apply.ts");
    return await takeBack(context, operation, { dryRun: false, force: false });
  }
  const moved = await confirmTyping(context, { isAnswered: input.whileTyping === true }, (typing) =>
    call(context, "undo", { ...input, ...typing }),
  );
  await printResult(context, moved, () =>
    renderMove({ moved, sessionRef: session, verb: "is again at", loss: input }),
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
