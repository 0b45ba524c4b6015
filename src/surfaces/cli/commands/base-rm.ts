import { call, type Invocation, printResult } from "../context.ts";
import { printable } from "../text/printable.ts";

/** Removes a base. */
export async function run({ context, input }: Invocation<object, "base.rm">): Promise<undefined> {
  const removed = await call(context, "base.rm", input);
  await printResult(context, removed, ({ name }) => [`Base ${printable(name)} is removed`]);
}
