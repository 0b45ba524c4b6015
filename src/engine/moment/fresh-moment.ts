import type { CheckpointRow } from "../../portable/model/index.ts";
import { fillLayers } from "../session/index.ts";
import type { Moment } from "./moment.ts";
import type { ReadingEngine } from "./reading-engine.ts";

/**
 * Opens what the session of a checkpoint was when it had just been started: its base and what
 * Waypoint itself puts there, so that the first checkpoint tells what the session did.
 */
export async function openFresh(row: CheckpointRow, engine: ReadingEngine): Promise<Moment> {
  const like = { ...row, name: row.sessionName };
  const scratch = engine.store.snapshots.filled(engine.newId(), row.hostMounts.length, (layers) =>
    fillLayers(like, layers, engine),
  );
  return {
    kind: "fresh",
    name: "fresh",
    origin: row,
    subvolumePath: scratch.subvolumePath,
    baseDir: engine.store.bases.directoryOf(row.base),
    calls: engine.fileCalls,
    checkpoint: null,
    session: null,
    imagesDir: () => null,
    once: (_key, load) => load(),
    [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose](),
  };
}
