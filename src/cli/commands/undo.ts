import { call, type Invocation, printResult } from "../context.ts";
import { contentOf, type LossOptions, lossInput, renderMove } from "../render-move.ts";

/** Takes the last restore back. */
export async function run({ context, args, options }: Invocation<LossOptions>): Promise<undefined> {
  const [session = ""] = args;
  const moved = await call(context, "undo", { session, ...lossInput(options) });
  const content = await contentOf(context, moved.checkpoint);
  await printResult(context, moved, () =>
    renderMove({ moved, content, sessionRef: session, verb: "is again at", loss: options }),
  );
}
