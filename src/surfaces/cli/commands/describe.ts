import { call, type Invocation, printResult } from "../context.ts";
import { truncate } from "../text/display-width.ts";
import { plain } from "../text/style.ts";
import { wholeTitle } from "../timeline/title.ts";

/** Says afterwards what a checkpoint is. */
export async function run({ context, input }: Invocation<object, "describe">): Promise<undefined> {
  const result = await call(context, "describe", input);
  await printResult(context, result, (checkpoint) => [
    truncate(
      `Checkpoint ${checkpoint.id}: ${wholeTitle(checkpoint, plain)}`,
      context.output.columns,
    ),
  ]);
}
