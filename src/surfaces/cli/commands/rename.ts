import { call, type Invocation, printResult } from "../context.ts";
import { printable } from "../text/printable.ts";

/** Gives a session another name. */
export async function run({ context, input }: Invocation<object, "rename">): Promise<undefined> {
  const result = await call(context, "rename", input);
  await printResult(context, result, ({ before, session }) => [
    `Session ${printable(before)} is called ${printable(session.name)} now.`,
  ]);
}
