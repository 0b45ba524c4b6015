import { call, type Invocation, printLong } from "../context.ts";
import { renderEffects } from "../render-effects.ts";

/** Lists what an agent did outside. */
export async function run({
  context,
  input,
}: Invocation<object, "effect.list">): Promise<undefined> {
  const result = await call(context, "effect.list", input);
  await printLong(context, result, ({ effects }) => renderEffects(effects, context.nowMs));
}
