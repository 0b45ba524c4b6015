import type {
  BisectBegin,
  BisectEvent,
  BisectRound,
  BisectTest,
  OperationInput,
  OperationOutput,
} from "../../shared/protocol/index.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { eachLine } from "./each-line.ts";
import { openStream } from "./operation-stream.ts";
import { type CallControl, splitControl } from "./options.ts";
import { checkpointRef, requireCommand } from "./require-arguments.ts";

/** Options of `Waypoint.bisect`. What a listener returns is awaited. */
export type BisectOptions = Omit<OperationInput<"bisect">, "good" | "bad" | "command"> &
  CallControl & {
    /** Told once, before the first test: how many checkpoints and rounds at the most. */
    onBegin?: (begin: BisectBegin) => unknown;
    /** Told of each checkpoint that said something. */
    onTest?: (test: BisectTest) => unknown;
    /** Told where the search stands after each round. */
    onRound?: (round: BisectRound) => unknown;
  };

/** Finds the first bad checkpoint between two. */
export async function bisectCheckpoints(
  stateDir: string,
  ends: { good: string | Checkpoint; bad: string | Checkpoint },
  command: string | readonly string[],
  options: BisectOptions,
): Promise<OperationOutput<"bisect">> {
  const { control, input: given } = splitControl(options);
  const { onBegin, onTest, onRound, ...input } = given;
  const request = {
    ...input,
    good: checkpointRef(ends.good),
    bad: checkpointRef(ends.bad),
    command: requireCommand(command),
  };
  const stream = await openStream(stateDir, "bisect", request, control);
  await eachLine(stream, async (event: BisectEvent) => {
    if (event.event === "begin") await onBegin?.(event);
    else if (event.event === "test") await onTest?.(event);
    else await onRound?.(event);
  });
  return await stream.result;
}
