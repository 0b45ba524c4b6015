import { WaypointError } from "../../../shared/errors/index.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { printable } from "../text/printable.ts";

/** Gives a checkpoint labels, or takes them away. */
export async function run({ context, rest, input }: Invocation<object, "tag">): Promise<undefined> {
  const { checkpoint, remove = [] } = input;
  if (rest.length === 0 && remove.length === 0) {
    throw new WaypointError("USAGE_INVALID", "There is no tag to give or to take away.", {
      hint: "`waypoint tag web@ good`, or `waypoint tag web@ --remove good`.",
    });
  }
  const result = await call(context, "tag", { checkpoint, add: [...rest], remove });
  await printResult(context, result, ({ id, tags }) => [
    tags.length === 0
      ? `Checkpoint ${id} has no tags.`
      : `Checkpoint ${id} is tagged ${tags.map(printable).join(", ")}.`,
  ]);
}
