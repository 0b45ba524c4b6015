import { call, type Invocation, printResult } from "../context.ts";
import { plain } from "../text/style.ts";
import { wholeTitle } from "../timeline/title.ts";

/** Says afterwards what a checkpoint is. */
export async function run({ context, input }: Invocation<object, "describe">): Promise<undefined> {
  const result = await call(context, "describe", input);
  await printResult(context, result, (checkpoint) => [
    `Checkpoint ${checkpoint.id}: ${wholeTitle(checkpoint, plain)}`,
  ]);
}
