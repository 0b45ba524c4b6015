import { forkCheckpoint } from "../engine/checkpoint/index.ts";
import { removeSession, requireUsablePids, requireValidName } from "../engine/session/index.ts";
import { describeStandby } from "../engine/standby/index.ts";
import { resolveCheckpoint, resolveSession } from "../portable/lineage/index.ts";
import { changeWords } from "./change-words.ts";
import type { HandlersOf } from "./operation-handler.ts";
import { requireFreeCheckpointName, takeCheckpoint } from "./take-checkpoint.ts";
import { undoIfGone } from "./undo-if-gone.ts";
import { withSession } from "./with-session.ts";

/** The handlers of making checkpoints, and sessions from them. */
export const CHECKPOINT_HANDLERS: HandlersOf<
  "checkpoint" | "name" | "describe" | "fork" | "standby"
> = {
  checkpoint: takeCheckpoint,

  name: (input, engine, client) =>
    changeWords(input.checkpoint, engine, client, ({ name }) => {
      if (input.name !== undefined && input.name !== name) {
        requireFreeCheckpointName(input.name, engine);
      }
      return { name: input.name ?? null };
    }),

  describe: (input, engine, client) =>
    changeWords(input.checkpoint, engine, client, () => ({ intent: input.intent })),

  fork: async (input, engine, client) => {
    const checkpoint = resolveCheckpoint(input.checkpoint, engine.catalog);
    if (input.name !== undefined) requireValidName(input.name);
    const { checkpoint: _, ...options } = input;
    requireUsablePids(options.pids);
    const { forks, readyMs, bindsLeftOut } = await forkCheckpoint(checkpoint, options, engine);
    await undoIfGone(client, async () => {
      await Promise.all(forks.map((fork) => removeSession(fork, engine)));
    });
    return {
      sessions: forks.map(({ id, name }) => ({ id, name, pid: engine.live.get(id)?.pid ?? null })),
      checkpoint: checkpoint.id,
      takenAt: checkpoint.createdAt,
      readyMs,
      bindsLeftOut,
    };
  },

  standby: (input, engine, client) =>
    withSession(input.session, engine, client, async (session) => {
      if (input.policy !== undefined) {
        engine.catalog.updateSession(session.id, { standby: input.policy });
      }
      return describeStandby(resolveSession(session.id, engine.catalog), engine);
    }),
};
