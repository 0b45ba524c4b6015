import type { CheckpointRow } from "../../portable/model/index.ts";
import type { Engine } from "../ports/index.ts";
import { toManifest } from "./manifest.ts";

/**
 * Writes a checkpoint's manifest as the catalog has it, with `change`, which is about to be there.
 *
 * One after the other, and each reads the catalog when it is its turn: words that are said while a
 * checkpoint becomes durable are in the last one. Nothing is written of one that was removed.
 *
 * @throws STORE_FULL
 */
export async function writeManifest(
  checkpointId: string,
  { background, catalog, store }: Pick<Engine, "background" | "catalog" | "store">,
  change: Partial<CheckpointRow> = {},
): Promise<void> {
  await background.run(`manifest:${checkpointId}`, async () => {
    const row = catalog.checkpoint(checkpointId);
    if (row === undefined) return;
    await store.writeManifest(checkpointId, toManifest({ ...row, ...change }));
  });
}
