import { isInMemory } from "../../../base/index.ts";
import { WaypointError } from "../../../shared/errors/index.ts";
import {
  type Checkpoint,
  couldNotRun,
  type OperationInput,
  type OperationOutput,
} from "../../../shared/protocol/index.ts";
import { eachLine } from "../../client/index.ts";
import {
  type CommandContext,
  call,
  callStream,
  type Invocation,
  note,
  printResult,
} from "../context.ts";
import { EXIT_CODE_NOT_PASSED, EXIT_CODE_NOT_VERIFIED } from "../exit-codes.ts";
import { renderOutput, renderVerdict } from "../render-verification.ts";
import { printable } from "../text/printable.ts";
import { formatDuration, formatSize } from "../text/quantities.ts";

/** Said as soon as it is there. */
type Captured = Checkpoint & Pick<OperationOutput<"checkpoint">, "taken">;

/** Captures a session, and runs a command against what was captured if that is asked for. */
export async function run({ context, input }: Invocation<object, "checkpoint">): Promise<number> {
  requireCommand(input);
  const isAwaited = input.verify !== undefined && input.verifyWait === true;
  const result =
    isAwaited && !context.isJson
      ? await printVerified(context, input)
      : await printCaptured(context, input);
  return isAwaited ? verdictOf(result) : 0;
}

/** @throws USAGE_INVALID  how to verify is said, but not with what. */
function requireCommand({ verify, verifyTimeoutMs, verifyWait }: OperationInput<"checkpoint">) {
  if (verify !== undefined || (verifyTimeoutMs === undefined && verifyWait === true)) return;
  throw new WaypointError("USAGE_INVALID", "There is nothing to verify the checkpoint with.", {
    hint: "Give the command with --verify, or leave out --verify-timeout and --no-wait.",
  });
}

async function printCaptured(context: CommandContext, input: OperationInput<"checkpoint">) {
  const result = await call(context, "checkpoint", input);
  await printResult(context, result, (shown) => renderCaptured(shown, context, input));
  return result;
}

/** Prints the checkpoint as soon as it is there, and later what came of its verification. */
async function printVerified(context: CommandContext, input: OperationInput<"checkpoint">) {
  const { output } = context;
  const result = await callStream(context, "checkpoint", input, async (stream) => {
    await eachLine(stream, (captured: Captured) =>
      output.lines(renderCaptured(captured, context, input)),
    );
    return await stream.result;
  });
  const { verification, verifyError } = result;
  if (verification !== null) {
    const isPassed = verdictOf(result) === 0;
    const shown = isPassed ? [] : renderOutput(verification, output.paint);
    await output.lines([renderVerdict(verification, output.paint, output.columns), ...shown]);
  }
  if (verifyError != null) {
    await output.lines([`Not verified: ${printable(verifyError.message)}`]);
    if (verifyError.hint !== null) note(context, verifyError.hint);
  }
  return result;
}

/** Exit code: the checkpoint is there in any case. */
function verdictOf({ verification, verifyError }: OperationOutput<"checkpoint">): number {
  if (verifyError != null || verification === null) return EXIT_CODE_NOT_VERIFIED;
  if (couldNotRun(verification)) return EXIT_CODE_NOT_VERIFIED;
  return verification.exitCode === 0 && !verification.timedOut ? 0 : EXIT_CODE_NOT_PASSED;
}

/** Whoever asked for a durable one must know what that is where no disk is. */
function renderCaptured(
  checkpoint: Captured,
  { stateDir }: CommandContext,
  { durable = false }: OperationInput<"checkpoint">,
): string[] {
  const lines =
    checkpoint.taken === false ? [renderNone(checkpoint)] : renderCheckpoint(checkpoint);
  if (!durable || !isInMemory(stateDir)) return lines;
  return [...lines, "Durable until the machine stops: the state directory is in memory."];
}

function renderNone({ id, name, sessionName }: Checkpoint): string {
  const named = name === null ? "" : ` (${printable(name)})`;
  return `None was taken: in ${printable(sessionName)} nothing has changed since ${id}${named}.`;
}

function renderCheckpoint(checkpoint: Checkpoint): string[] {
  const { id, name, sessionName, pauseMs, totalMs, memoryBytes, changes, unchangedSince } =
    checkpoint;
  const what = checkpoint.content === "files" ? "the files of " : "";
  const named = name === null ? "" : ` (${printable(name)})`;
  return [
    `Captured ${what}${printable(sessionName)} as ${id}${named}`,
    ...(unchangedSince === null
      ? []
      : [
          `In the machine nothing has run or changed since ${unchangedSince}, whose capture it shares.`,
        ]),
    `Paused ${formatDuration(pauseMs)} of ${formatDuration(totalMs)}, ` +
      `${formatSize(memoryBytes)} of memory.`,
    ...(changes.summary === "" ? [] : [`Changes: ${printable(changes.summary)}`]),
  ];
}
