import { describeCheckpoints, writeManifest } from "../engine/checkpoint/index.ts";
import type { Engine, StreamClient } from "../engine/ports/index.ts";
import { resolveCheckpoint } from "../portable/lineage/index.ts";
import type { CheckpointRow } from "../portable/model/index.ts";
import type { Checkpoint } from "../shared/protocol/index.ts";

/** What of a checkpoint are words, which may be said later; what was captured never changes. */
type Words = Partial<Pick<CheckpointRow, "name" | "intent" | "tags">>;

/**
 * Changes what is said of a checkpoint, in the catalog and in the manifest beside it.
 *
 * **On failure** of the manifest the catalog has the old words again.
 *
 * @param choose  what is to be said, from how it is.
 * @throws CHECKPOINT_NOT_FOUND | REFERENCE_AMBIGUOUS | STORE_FULL | FORMAT_TOO_NEW
 */
export async function changeWords(
  reference: string,
  engine: Engine,
  client: Pick<StreamClient, "cancelled">,
  choose: (row: CheckpointRow) => Words,
): Promise<Checkpoint> {
  const { catalog, store, leases } = engine;
  const { id, session } = resolveCheckpoint(reference, catalog);
  const change = async () => {
    const row = resolveCheckpoint(id, catalog);
    store.requireKnown(id);
    catalog.updateCheckpoint(id, choose(row));
    const changed = resolveCheckpoint(id, catalog);
    try {
      // What is held has no manifest yet; its dump writes one with these words.
      if (row.heldBy === null) await writeManifest(id, engine);
    } catch (error) {
      catalog.updateCheckpoint(id, { name: row.name, intent: row.intent, tags: row.tags });
      throw error;
    }
    return describeCheckpoints([changed], engine)[0] as Checkpoint;
  };
  return await leases.run(session, change, client.cancelled);
}
