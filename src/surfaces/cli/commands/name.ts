import { call, type Invocation, printResult } from "../context.ts";
import { printable } from "../text/printable.ts";

/** Gives a checkpoint a name, or takes it away. */
export async function run({ context, input }: Invocation<object, "name">): Promise<undefined> {
  const result = await call(context, "name", input);
  await printResult(context, result, ({ id, name }) => [
    name === null
      ? `Checkpoint ${id} has no name now.`
      : `Checkpoint ${id} is ${printable(name)} now.`,
  ]);
}
