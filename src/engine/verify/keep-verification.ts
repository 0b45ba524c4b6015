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
  const { catalog, store, background, logger } = engine;
  requireThere(checkpointId, engine);
  catalog.verifications.add({ checkpoint: checkpointId, ...verification });
  // One after the other: two that end at once would write the same file.
  await background.run(`verifications:${checkpointId}`, async () => {
    try {
      const kept = catalog.verifications.of(checkpointId).toReversed();
      if (kept.length === 0) return; // The checkpoint was removed meanwhile.
      await store.verifications.write(checkpointId, kept);
    } catch (error) {
      // The catalog has it; a full store must not make a finished test fail.
      logger.error("verification not written to the store", error, { checkpointId });
    }
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
