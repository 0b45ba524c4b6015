import { WaypointError } from "../../../shared/errors/index.ts";
import type { BisectEvent, OperationInput } from "../../../shared/protocol/index.ts";
import { eachLine } from "../../client/index.ts";
import { callStream, type Invocation } from "../context.ts";
import { EXIT_CODE_UNDECIDED } from "../exit-codes.ts";
import { renderBisectEvent, renderBisected } from "../render-bisect.ts";

/** Finds the first bad checkpoint; prints each result as it comes. */
export async function run({ context, input }: Invocation<object, "bisect">): Promise<number> {
  const { output, isJson } = context;
  requireCommand(input);
  const found = await callStream(context, "bisect", input, async (stream) => {
    await eachLine(stream, async (event: BisectEvent) => {
      if (isJson) await output.json(event);
      else await output.lines(renderBisectEvent(event, output.paint));
    });
    return await stream.result;
  });
  if (isJson) await output.json({ event: "result", ...found });
  else await output.lines(renderBisected(found, output));
  return found.firstBad === null ? EXIT_CODE_UNDECIDED : 0;
}

function requireCommand({ command }: OperationInput<"bisect">): void {
  if (command.length > 0) return;
  throw new WaypointError("USAGE_INVALID", "There is no command to tell good from bad with.", {
    hint: "Put -- before the command: `waypoint bisect green web@ -- npm test`.",
  });
}
