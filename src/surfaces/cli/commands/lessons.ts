import { call, type Invocation, printLong } from "../context.ts";
import { renderDecision } from "../render-decisions.ts";

/** Shows what was decided on branches that were left. */
export async function run({ context, input }: Invocation<object, "lessons">): Promise<undefined> {
  const result = await call(context, "lessons", input);
  const none = input.all === true ? "Nothing was noted." : "No branch was left with a note on it.";
  await printLong(context, result, ({ decisions }) =>
    decisions.length === 0
      ? [none]
      : decisions.flatMap((each) => renderDecision(each, context.nowMs)),
  );
}
