import type { CheckpointRow } from "../../portable/model/index.ts";
import { toWaypointError, WaypointError } from "../../shared/errors/index.ts";
import type { Verified } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import type { VerifyRequest } from "./run-in-fork.ts";
import { verifyCheckpoint } from "./verify-checkpoint.ts";

/**
 * Runs a command against many checkpoints, some at once, and returns what became of each.
 *
 * One that cannot be verified does not stop the others. When the caller gives up, all are.
 *
 * @param options.onResult  told of each as it comes; what it returns is awaited.
 * @throws CANCELLED
 */
export async function verifyMany(
  checkpoints: readonly CheckpointRow[],
  requestFor: (checkpoint: CheckpointRow) => VerifyRequest,
  options: { concurrency: number; onResult: (verified: Verified) => Promise<void> },
  engine: Engine,
): Promise<Verified[]> {
  const results: Verified[] = [];
  const left = [...checkpoints.entries()];
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [index, checkpoint] = next;
      const request = requestFor(checkpoint);
      const verified = await verifyOne(checkpoint, request, engine);
      if (request.signal.aborted)
        throw new WaypointError("CANCELLED", "The operation was cancelled.");
      results[index] = verified;
      await options.onResult(verified);
    }
  };
  const workers = Math.min(options.concurrency, checkpoints.length);
  await Promise.all(Array.from({ length: workers }, work));
  return results;
}

async function verifyOne(
  checkpoint: CheckpointRow,
  request: VerifyRequest,
  engine: Engine,
): Promise<Verified> {
  const { id, name } = checkpoint;
  try {
    const verification = await verifyCheckpoint(checkpoint, request, engine);
    const passed = verification.exitCode === 0 && !verification.timedOut;
    return { checkpoint: id, name, passed, verification, error: null };
  } catch (thrown) {
    const { code, message, hint } = toWaypointError(thrown);
    return {
      checkpoint: id,
      name,
      passed: false,
      verification: null,
      error: { code, message, hint },
    };
  }
}
