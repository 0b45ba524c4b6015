import { showCheckpoint } from "../engine/checkpoint/index.ts";
import { diffMoments } from "../engine/story/index.ts";
import { resolveCheckpoint, resolveMoment } from "../portable/lineage/index.ts";
import type { HandlersOf } from "./operation-handler.ts";
import { readLog } from "./read-log.ts";

/** The handlers of reading what checkpoints tell. */
export const STORY_HANDLERS: HandlersOf<"log" | "show" | "diff"> = {
  log: (input, engine) => readLog(input, engine),

  show: (input, engine) =>
    showCheckpoint(resolveCheckpoint(input.checkpoint, engine.catalog), engine),

  diff: async (input, engine, client) => {
    const refs = {
      from: resolveMoment(input.from, engine.catalog),
      to: resolveMoment(input.to, engine.catalog),
    };
    return await diffMoments(refs, input, engine, client.cancelled);
  },
};
