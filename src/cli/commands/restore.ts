import { confirm } from "../confirm.ts";
import { call, type Invocation, printResult } from "../context.ts";
import {
  contentOf,
  type LossOptions,
  lossInput,
  lossSentence,
  renderMove,
} from "../render-move.ts";

/** Puts a session back to a checkpoint. */
export async function run({
  context,
  args,
  options,
}: Invocation<LossOptions & { yes?: boolean }>): Promise<undefined> {
  const [session = "", checkpoint = ""] = args;
  await confirm(context, {
    question: `Put session ${session} back to ${checkpoint}? ${lossSentence(options)}`,
    isAnswered: options.yes === true,
  });
  const input = { session, checkpoint, ...lossInput(options) };
  const moved = await call(context, "restore", input);
  const content = await contentOf(context, moved.checkpoint);
  await printResult(context, moved, () =>
    renderMove({ moved, content, sessionRef: session, verb: "is back at", loss: options }),
  );
}
