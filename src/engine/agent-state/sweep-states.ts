import type { SessionRow } from "../../portable/model/index.ts";
import type { Engine } from "../ports/index.ts";

/**
 * Removes, in the background, what no session and no checkpoint has of agents' states any more.
 *
 * @param gone  rows that were removed: where none had a state there is nothing to look for
 */
export function sweepStates(
  gone: readonly Pick<SessionRow, "agentState">[],
  { background, catalog, agentStates, logger }: Engine,
): void {
  if (gone.every(({ agentState }) => agentState === null)) return;
  void background
    .run("agent-state", async () => {
      const rows = [...catalog.sessions(), ...catalog.checkpoints()];
      const removed = agentStates.keepOnly(rows.flatMap(({ agentState }) => agentState ?? []));
      if (removed > 0) logger.info("agents' states removed", { objects: removed });
    })
    .catch((error: unknown) => logger.error("remove agents' states", error));
}
