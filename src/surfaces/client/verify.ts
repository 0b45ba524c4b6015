import { WaypointError } from "../../shared/errors/index.ts";
import type { FullVerification, OperationOutput, Verified } from "../../shared/protocol/index.ts";
import { callOperation } from "./call-operation.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { eachLine } from "./each-line.ts";
import { openStream } from "./operation-stream.ts";
import { type CallControl, splitControl, type VerifyOptions } from "./options.ts";
import { checkpointRef, requireCheckpoints, requireCommand } from "./require-arguments.ts";

/** What is run against checkpoints; `null` for the command of each one's session. */
export type VerifyCommand = string | readonly string[] | null;

/** Runs a command against checkpoints and returns what became of each. */
export async function verifyCheckpoints(
  stateDir: string,
  checkpoints: readonly (string | Checkpoint)[],
  command: VerifyCommand,
  options: VerifyOptions,
): Promise<OperationOutput<"verify">> {
  const words = command === null ? {} : { command: requireCommand(command) };
  requireCheckpoints(checkpoints);
  const { control, input: given } = splitControl(options);
  const { onResult, ...input } = given;
  const request = { ...input, checkpoints: checkpoints.map(checkpointRef), ...words };
  const stream = await openStream(stateDir, "verify", request, control);
  await eachLine(stream, async (verified: Verified) => {
    await onResult?.(verified);
  });
  return await stream.result;
}

/** Runs a command against one checkpoint. @throws what kept it from being run */
export async function verifyOne(
  stateDir: string,
  checkpoint: string,
  command: VerifyCommand,
  options: { timeoutMs?: number } & CallControl,
): Promise<FullVerification> {
  const { results } = await verifyCheckpoints(stateDir, [checkpoint], command, options);
  const { verification = null, error = null } = results[0] ?? {};
  if (verification !== null) return verification;
  throw WaypointError.fromJSON({
    code: error?.code ?? "INTERNAL",
    message: error?.message ?? "There is no result.",
    hint: error?.hint ?? null,
    detail: {},
  });
}

/** Chooses the command that a session is verified with; `null` for none. */
export async function chooseVerifyCommand(
  stateDir: string,
  session: string,
  command: VerifyCommand,
  options: { automatic?: boolean } & CallControl,
): Promise<OperationOutput<"verify.set">> {
  const words = command === null ? null : requireCommand(command);
  const { control, input } = splitControl(options);
  return await callOperation(
    stateDir,
    "verify.set",
    { ...input, session, command: words },
    control,
  );
}

/** Forgets what verifications said of a checkpoint, or one command alone; returns how many. */
export async function forgetVerifications(
  stateDir: string,
  checkpoint: string,
  command: VerifyCommand,
  control: CallControl,
): Promise<number> {
  const words = command === null ? {} : { command: requireCommand(command) };
  const request = { checkpoints: [checkpoint], ...words };
  return (await callOperation(stateDir, "verify.forget", request, control)).forgotten;
}
