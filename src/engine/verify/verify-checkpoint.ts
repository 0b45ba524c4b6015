import type { CheckpointRow } from "../../portable/catalog/index.ts";
import type { FullVerification } from "../../shared/protocol/index.ts";
import type { EnginePorts } from "../session/index.ts";
import { keepVerification } from "./keep-verification.ts";
import { runInFork, type VerifyRequest } from "./run-in-fork.ts";

/**
 * Runs a command against exactly one checkpoint and keeps its result beside it.
 *
 * **On failure** nothing is kept: the checkpoint is as verified as it was before.
 *
 * @throws what {@link runInFork} throws
 */
export async function verifyCheckpoint(
  checkpoint: CheckpointRow,
  request: VerifyRequest,
  ports: EnginePorts,
): Promise<FullVerification> {
  const verification = await runInFork(checkpoint, request, ports);
  await keepVerification(checkpoint.id, verification, ports);
  return verification;
}

/** Does the same when nobody waits for it; a failure is logged. */
export function verifyInBackground(
  checkpoint: CheckpointRow,
  request: Omit<VerifyRequest, "signal">,
  ports: EnginePorts,
): void {
  const { signal } = new AbortController();
  void verifyCheckpoint(checkpoint, { ...request, signal }, ports).catch((error: unknown) => {
    const { id } = checkpoint;
    ports.logger.warn("a checkpoint was not verified", { checkpoint: id, reason: String(error) });
  });
}
