import { WaypointError } from "../../../shared/errors/index.ts";
import type { BisectEvent, OperationInput } from "../../../shared/protocol/index.ts";
import { eachLine } from "../../client/index.ts";
import { callStream, type Invocation } from "../context.ts";
import { EXIT_CODE_UNDECIDED } from "../exit-codes.ts";
import { renderBisectEvent, renderBisected } from "../render-bisect.ts";
import { withoutUndefined } from "../session-options.ts";

interface BisectOptions {
  timeout?: number;
  timeoutMeans?: "bad" | "skip";
  jobs?: number;
  trust?: boolean;
  record: boolean;
  reuse: boolean;
}

/** Finds the first bad checkpoint; prints each result as it comes. */
export async function run({
  context,
  args,
  rest,
  options,
}: Invocation<BisectOptions>): Promise<number> {
  const { output, isJson } = context;
  const input = bisectInput(args, rest, options);
  const found = await callStream(context, "bisect", input, async (stream) => {
    await eachLine(stream, async (event: BisectEvent) => {
      if (isJson) await output.json(event);
      else await output.lines(renderBisectEvent(event, output.paint));
    });
    return await stream.result;
  });
  if (isJson) await output.json({ event: "result", ...found });
  else await output.lines(renderBisected(found, output.paint));
  return found.firstBad === null ? EXIT_CODE_UNDECIDED : 0;
}

function bisectInput(
  [good = "", bad = ""]: readonly (string | undefined)[],
  command: readonly string[],
  { timeout: timeoutMs, timeoutMeans, jobs: concurrency, trust, record, reuse }: BisectOptions,
): OperationInput<"bisect"> {
  if (command.length === 0) {
    throw new WaypointError("USAGE_INVALID", "There is no command to tell good from bad with.", {
      hint: "Put -- before the command: `waypoint bisect green web@ -- npm test`.",
    });
  }
  const given = withoutUndefined({ timeoutMs, timeoutMeans, concurrency, trust });
  return { ...given, good, bad, command: [...command], record, reuse };
}
