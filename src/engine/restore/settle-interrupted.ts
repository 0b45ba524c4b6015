import type { Engine } from "../ports/index.ts";
import { removeStaleLineReverts } from "./line-reverts.ts";
import { jobId } from "./put-back-files.ts";
import { removeUnfinished } from "./put-files.ts";

/**
 * Notes which operations a daemon that died was in the middle of, and removes what it
 * had made and not put in place yet. What is in place stays: each file is the old one or the new one.
 */
export async function settleInterrupted(engine: Engine): Promise<void> {
  await removeStaleLineReverts(engine);
  const { operations } = engine.catalog;
  for (const { id, session, detail, readyMs } of operations.begun()) {
    if (detail === null) continue;
    operations.update(id, { detail: { ...detail, state: "interrupted" }, readyMs });
    const live = engine.live.get(session);
    if (live === undefined) continue;
    const job = { pid: live.pid, id: jobId(id) };
    await removeUnfinished(operations.paths(id), job, engine.fileCalls).catch((error: unknown) =>
      engine.logger.error("remove what was not finished", error, { operation: id }),
    );
  }
}
