import { WaypointError } from "../../shared/errors/index.ts";
import type { FullVerification, OperationOutput, Verified } from "../../shared/protocol/index.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { eachLine } from "./each-line.ts";
import { openStream } from "./operation-stream.ts";
import { type CallControl, splitControl, type VerifyOptions } from "./options.ts";
import { checkpointRef, requireCheckpoints, requireCommand } from "./require-arguments.ts";

/** Runs a command against checkpoints and returns what became of each. */
export async function verifyCheckpoints(
  stateDir: string,
  checkpoints: readonly (string | Checkpoint)[],
  command: string | readonly string[],
  options: VerifyOptions,
): Promise<OperationOutput<"verify">> {
  const words = requireCommand(command);
  requireCheckpoints(checkpoints);
  const { control, input: given } = splitControl(options);
  const { onResult, ...input } = given;
  const request = { ...input, checkpoints: checkpoints.map(checkpointRef), command: words };
  const { signal } = control;
  const stream = await openStream(
    stateDir,
    "verify",
    request,
    signal === undefined ? {} : { signal },
  );
  await eachLine(stream, async (verified: Verified) => {
    await onResult?.(verified);
  });
  return await stream.result;
}

/** Runs a command against one checkpoint. @throws what kept it from being run */
export async function verifyOne(
  stateDir: string,
  checkpoint: string,
  command: string | readonly string[],
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
