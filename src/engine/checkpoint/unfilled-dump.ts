import type { TrackedDump } from "../../linux/criu/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { untilWhole, workDirOf } from "../session/index.ts";
import { findCompared } from "./tracked-dump.ts";

/** A server that has not compared all pages by then is of no use to a dump. */
const PREPARE_TIMEOUT_MS = 60_000;

/** How to dump an instance that has not all of its memory yet. */
export interface UnfilledDump {
  dump: TrackedDump;
  /** What is taken from the images that it was restored from, and how much of it as a copy in memory. */
  leftBytes: number;
  copiedBytes: number;
  /** Has all of it brought, for a dump of everything. */
  fill: () => Promise<void>;
}

/**
 * Notes that a whole checkpoint was taken of an instance: where its memory is lost from now on, it goes back
 * to that one, and what it has not got has a place there, too.
 */
export function noteServedFrom(
  { instanceId }: LiveInstance,
  checkpointId: string,
  { catalog }: Engine,
): void {
  if (catalog.instance(instanceId)?.fillingFrom == null) return;
  catalog.updateInstance(instanceId, { fillingFrom: checkpointId });
}

/**
 * Returns how to dump an instance that was restored lazily and is not full: what is missing is taken from
 * the images that it was restored from. `null` for one that has all of its memory, or has it now, since
 * these images are gone or its server does not answer.
 *
 * @throws SESSION_ENDED  its memory is lost.
 */
export async function planUnfilled(
  live: LiveInstance,
  checkpointId: string,
  engine: Engine,
): Promise<UnfilledDump | null> {
  const { instanceId } = live;
  if (!engine.filling.has(instanceId)) return null;
  const servedFrom = engine.catalog.instance(instanceId)?.fillingFrom ?? null;
  const fill = () => untilWhole(live, engine);
  try {
    const reference = servedFrom === null ? null : findCompared(servedFrom, checkpointId, engine);
    if (reference !== null) {
      const workDir = workDirOf(instanceId);
      // Those in memory its server compares.
      await reference.requireSound?.();
      const how = { isCompared: reference.requireSound !== undefined };
      const { leftBytes } = await engine.criu.preparePages(workDir, PREPARE_TIMEOUT_MS, how);
      return {
        dump: {
          ...{ socketPath: null, pagesSocketPath: engine.criu.pagesSocketPath(workDir) },
          ...{ checkpointId, bytesMin: 0, reference },
          assembleProgramPath: engine.settings.assembleProgramPath,
        },
        leftBytes,
        copiedBytes: reference.makeTarget === null ? leftBytes : 0,
        fill,
      };
    }
  } catch (error) {
    engine.logger.warn("filled before a checkpoint", { instanceId, reason: String(error) });
  }
  await fill();
  return null;
}
