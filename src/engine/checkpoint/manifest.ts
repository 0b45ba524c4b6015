import { crc32 } from "node:zlib";
import { z } from "zod";
import { MANIFEST_FORMAT, requireKnownManifest } from "../../base/index.ts";
import { type CheckpointRow, checkpointRecordSchema } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";

/** The first format that tells a manifest's own sum. */
const FORMAT_WITH_SUM = 3;
const manifestSchema = z.object({
  format: z.number().max(MANIFEST_FORMAT),
  // A manifest is written when nothing holds the checkpoint any more.
  checkpoint: checkpointRecordSchema.extend({
    heldBy: z.null().default(null),
    heldWhy: z.null().default(null),
  }),
});

/** Returns what is written beside a checkpoint, from which its row can be made again. */
export function toManifest(checkpoint: CheckpointRow): object {
  return { format: MANIFEST_FORMAT, checkpoint, sum: sumOf(checkpoint) };
}

/** Reads a manifest. @throws FORMAT_TOO_NEW | CHECKPOINT_INCOMPLETE */
export function fromManifest(manifest: unknown): CheckpointRow {
  requireKnownManifest(manifest);
  const parsed = manifestSchema.safeParse(manifest);
  if (!parsed.success) throw damaged(parsed.error.message.slice(0, 500));
  // As it was written: with whatever has come into the text since.
  const { checkpoint, sum } = manifest as { checkpoint: object; sum?: unknown };
  const isSummed = parsed.data.format >= FORMAT_WITH_SUM;
  if (isSummed && sum !== sumOf(checkpoint)) throw damaged("its sum is another one");
  return parsed.data.checkpoint;
}

function damaged(reason: string): WaypointError {
  return new WaypointError("CHECKPOINT_INCOMPLETE", "A checkpoint's manifest cannot be read.", {
    detail: { reason },
  });
}

/** JSON keeps the order of fields, so that what was read has the sum of what was written. */
function sumOf(checkpoint: object): number {
  return crc32(JSON.stringify(checkpoint));
}

/**
 * Returns what can be shown of a checkpoint whose manifest a newer Waypoint has written; `null` where
 * not even that can be read. Whoever uses it gets FORMAT_TOO_NEW.
 */
export function shownOfNewer(manifest: unknown): CheckpointRow | null {
  const known = z.object({ checkpoint: manifestSchema.shape.checkpoint }).safeParse(manifest);
  return known.success ? known.data.checkpoint : null;
}
