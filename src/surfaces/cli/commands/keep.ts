import { call, type Invocation, printResult } from "../context.ts";
import { printable } from "../text/printable.ts";
import { formatSize } from "../text/quantities.ts";

/** Has a throw-away fork get all of its memory. */
export async function run({ context, input }: Invocation<object, "keep">): Promise<undefined> {
  const result = await call(context, "keep", input);
  await printResult(context, result, ({ leftBytes, session }) => [
    leftBytes === 0
      ? `Session ${printable(session.name)} has all of its memory.`
      : `Session ${printable(session.name)} gets the ${formatSize(leftBytes)} of its memory that it has not touched.`,
  ]);
}
