import { z } from "zod";
import { type FullVerification, fullVerificationSchema } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import { requireThere } from "./run-in-fork.ts";

/**
 * Keeps what came of a verification: in the catalog, where it is looked for, and beside the
 * checkpoint, where it outlives the catalog.
 *
 * @throws STORE_FULL | CHECKPOINT_NOT_FOUND  nothing is kept.
 */
export async function keepVerification(
  checkpointId: string,
  verification: FullVerification,
  engine: Engine,
): Promise<void> {
  requireThere(checkpointId, engine);
  engine.catalog.verifications.add({ checkpoint: checkpointId, ...verification });
  await writeBeside(checkpointId, engine).catch((error: unknown) => {
    // The catalog has it; a full store must not make a finished test fail.
    engine.logger.error("verification not written to the store", error, { checkpointId });
  });
}

/**
 * Forgets what was kept of a checkpoint, or of one command alone, in both places; returns how many.
 *
 * @throws STORE_FULL  the loss of the catalog would bring it back.
 */
export async function forgetVerifications(
  checkpointId: string,
  command: string | undefined,
  engine: Engine,
): Promise<number> {
  const forgotten = engine.catalog.verifications.deleteOf(checkpointId, command);
  if (forgotten > 0) await writeBeside(checkpointId, engine);
  return forgotten;
}

/** One after the other: two that end at once would write the same file. */
async function writeBeside(
  checkpointId: string,
  { catalog, store, background }: Engine,
): Promise<void> {
  await background.run(`verifications:${checkpointId}`, async () => {
    if (catalog.checkpoint(checkpointId) === undefined) return; // It was removed meanwhile.
    const kept = catalog.verifications.of(checkpointId).toReversed();
    await store.verifications.write(checkpointId, kept);
  });
}

/** Notes in the catalog what was kept beside a checkpoint, after the loss of the catalog. */
export async function readVerifications(checkpointId: string, engine: Engine): Promise<void> {
  const { catalog, store } = engine;
  const parsed = z
    .array(fullVerificationSchema)
    .safeParse(await store.verifications.read(checkpointId));
  for (const verification of parsed.data ?? []) {
    catalog.verifications.add({ checkpoint: checkpointId, ...verification });
  }
}
