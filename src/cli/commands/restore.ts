import type { OperationOutput } from "../../protocol/index.ts";
import { confirm } from "../confirm.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { renderMove } from "../render-move.ts";

/** Puts a session back to a checkpoint. */
export async function run({
  context,
  args,
  options,
}: Invocation<{ yes?: boolean; withoutBinds?: boolean }>): Promise<undefined> {
  const [session = "", checkpoint = ""] = args;
  await confirm(context, {
    question: `Put session ${session} back to ${checkpoint}? What it has now is checkpointed first.`,
    isAnswered: options.yes === true,
  });
  const result = await call(context, "restore", {
    ...{ session, checkpoint },
    withoutBinds: options.withoutBinds === true,
  });
  await printResult(context, result, (moved: OperationOutput<"restore">) =>
    renderMove({ moved, sessionRef: session, verb: "is back at" }),
  );
}
