import { confirmTyping } from "../confirm-typing.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { contentOf, type LossOptions, lossInput, renderMove } from "../render-move.ts";
import { withoutUndefined } from "../session-options.ts";

/** Takes the last restore back. */
export async function run({
  context,
  args,
  options,
}: Invocation<
  LossOptions & { withoutBinds?: boolean; whileTyping?: boolean }
>): Promise<undefined> {
  const [session = ""] = args;
  const { withoutBinds } = options;
  const choice = { ...withoutUndefined({ withoutBinds }), ...lossInput(options) };
  const isAnswered = options.whileTyping === true;
  const moved = await confirmTyping(context, { isAnswered }, (typing) =>
    call(context, "undo", { session, ...choice, ...typing }),
  );
  const content = await contentOf(context, moved.checkpoint);
  await printResult(context, moved, () =>
    renderMove({ moved, content, sessionRef: session, verb: "is again at", loss: options }),
  );
}
