import type { CheckpointRow } from "../../portable/model/index.ts";
import type { FullVerification } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
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
  engine: Engine,
): Promise<FullVerification> {
  const verification = await runInFork(checkpoint, request, engine);
  await keepVerification(checkpoint.id, verification, engine);
  return verification;
}

/** Does the same when nobody waits for it; a failure is logged. */
export function verifyInBackground(
  checkpoint: CheckpointRow,
  asked: Omit<VerifyRequest, "signal" | "isBackground">,
  engine: Engine,
): void {
  const { signal } = new AbortController();
  const request = { ...asked, signal, isBackground: true };
  void verifyCheckpoint(checkpoint, request, engine).catch((error: unknown) => {
    const { id } = checkpoint;
    engine.logger.warn("a checkpoint was not verified", { checkpoint: id, reason: String(error) });
  });
}
