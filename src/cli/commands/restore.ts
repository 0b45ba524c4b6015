import { confirm } from "../confirm.ts";
import { confirmTyping } from "../confirm-typing.ts";
import { call, type Invocation, printResult } from "../context.ts";
import {
  contentOf,
  type LossOptions,
  lossInput,
  lossSentence,
  renderMove,
} from "../render-move.ts";
import { withoutUndefined } from "../session-options.ts";

/** Puts a session back to a checkpoint. */
export async function run({
  context,
  args,
  options,
}: Invocation<
  LossOptions & { yes?: boolean; withoutBinds?: boolean; whileTyping?: boolean }
>): Promise<undefined> {
  const [session = "", checkpoint = ""] = args;
  await confirm(context, {
    question: `Put session ${session} back to ${checkpoint}? ${lossSentence(options)}`,
    isAnswered: options.yes === true,
  });
  const { withoutBinds } = options;
  const choice = { ...withoutUndefined({ withoutBinds }), ...lossInput(options) };
  const isAnswered = options.whileTyping === true;
  const moved = await confirmTyping(context, { isAnswered }, (typing) =>
    call(context, "restore", { session, checkpoint, ...choice, ...typing }),
  );
  const content = await contentOf(context, moved.checkpoint);
  await printResult(context, moved, () =>
    renderMove({ moved, content, sessionRef: session, verb: "is back at", loss: options }),
  );
}
