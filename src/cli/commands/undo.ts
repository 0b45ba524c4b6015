import { call, type Invocation, printResult } from "../context.ts";
import { renderMove } from "../render-move.ts";

/** Takes the last restore back. */
export async function run({
  context,
  args,
  options,
}: Invocation<{ withoutBinds?: boolean }>): Promise<undefined> {
  const [session = ""] = args;
  const result = await call(context, "undo", {
    session,
    withoutBinds: options.withoutBinds === true,
  });
  await printResult(context, result, (moved) =>
    renderMove({ moved, sessionRef: session, verb: "is again at" }),
  );
}
