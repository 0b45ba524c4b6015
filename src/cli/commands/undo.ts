import { call, type Invocation, printResult } from "../context.ts";
import { contentOf, type LossOptions, lossInput, renderMove } from "../render-move.ts";
import { withoutUndefined } from "../session-options.ts";

/** Takes the last restore back. */
export async function run({
  context,
  args,
  options,
}: Invocation<LossOptions & { withoutBinds?: boolean }>): Promise<undefined> {
  const [session = ""] = args;
  const { withoutBinds } = options;
  const choice = { ...withoutUndefined({ withoutBinds }), ...lossInput(options) };
  const moved = await call(context, "undo", { session, ...choice });
  const content = await contentOf(context, moved.checkpoint);
  await printResult(context, moved, () =>
    renderMove({ moved, content, sessionRef: session, verb: "is again at", loss: options }),
  );
}
