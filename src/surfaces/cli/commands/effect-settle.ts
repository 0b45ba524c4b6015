import { call, type Invocation, printResult } from "../context.ts";
import { renderEffects } from "../render-effects.ts";

/** Says what became of an effect of which nobody knows. */
export async function run({
  context,
  input,
}: Invocation<object, "effect.settle">): Promise<undefined> {
  const settled = await call(context, "effect.settle", input);
  await printResult(context, settled, (shown) => renderEffects([shown], context.nowMs));
}
