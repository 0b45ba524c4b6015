import { showCheckpoint } from "../engine/checkpoint/index.ts";
import type { Engine } from "../engine/ports/index.ts";
import { diffMoments } from "../engine/story/index.ts";
import { resolveCheckpoint, resolveMoment, standOf } from "../portable/lineage/index.ts";
import { WaypointError } from "../shared/errors/index.ts";
import type { OperationParsedInput } from "../shared/protocol/index.ts";
import type { HandlersOf } from "./operation-handler.ts";
import { readLog } from "./read-log.ts";

/** The handlers of reading what checkpoints tell. */
export const STORY_HANDLERS: HandlersOf<"log" | "show" | "diff"> = {
  log: (input, engine) => readLog(input, engine),

  show: (input, engine, client) => {
    const checkpoint = resolveCheckpoint(input.checkpoint, engine.catalog);
    return showCheckpoint(checkpoint, input, engine, client.cancelled);
  },

  diff: async (input, engine, client) => {
    return await diffMoments(resolveBoth(input, engine), input, engine, client.cancelled);
  },
};

/**
 * Finds what to compare. One moment alone is compared with its session as it is now; a session is
 * then where it stands.
 *
 * @throws CHECKPOINT_NOT_FOUND | SESSION_NOT_FOUND | REFERENCE_AMBIGUOUS
 */
function resolveBoth({ from, to }: OperationParsedInput<"diff">, { catalog }: Engine) {
  const first = resolveMoment(from, catalog);
  if (to !== undefined) return { from: first, to: resolveMoment(to, catalog) };
  if ("session" in first) {
    return { from: { checkpoint: standOf(first.session, catalog) }, to: first };
  }
  const session = catalog.session(first.checkpoint.session);
  if (session !== undefined) return { from: first, to: { session } };
  throw new WaypointError(
    "SESSION_NOT_FOUND",
    `Session ${first.checkpoint.sessionName}, which ${first.checkpoint.id} is of, was removed.`,
    { hint: "Name a second moment to compare with: a checkpoint, or another session." },
  );
}
