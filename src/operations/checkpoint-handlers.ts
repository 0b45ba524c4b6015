import { forkCheckpoint } from "../engine/checkpoint/index.ts";
import {
  describeSession,
  keepMemory,
  removeSession,
  requireLive,
  requireUsablePids,
  requireValidName,
} from "../engine/session/index.ts";
import { describeStandby } from "../engine/standby/index.ts";
import { resolveCheckpoint, resolveSession } from "../portable/lineage/index.ts";
import { type CheckpointRow, tagsOf } from "../portable/model/index.ts";
import { WaypointError } from "../shared/errors/index.ts";
import { TAGS_MAX } from "../shared/protocol/index.ts";
import { changeWords } from "./change-words.ts";
import type { HandlersOf } from "./operation-handler.ts";
import { requireFreeCheckpointName, takeCheckpoint } from "./take-checkpoint.ts";
import { undoIfGone } from "./undo-if-gone.ts";
import { withSession } from "./with-session.ts";

/** The handlers of making checkpoints, and sessions from them. */
export const CHECKPOINT_HANDLERS: HandlersOf<
  "checkpoint" | "name" | "describe" | "tag" | "fork" | "keep" | "standby"
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

  tag: ({ checkpoint, add, remove }, engine, client) =>
    changeWords(checkpoint, engine, client, (row) => {
      for (const tag of add) requireValidName(tag);
      const kept = [...tagsOf(row), ...add].filter((tag) => !remove.includes(tag));
      const tags = [...new Set(kept)].toSorted();
      if (tags.length > TAGS_MAX) throw tooManyTags(row);
      return { tags: tags.length === 0 ? null : JSON.stringify(tags) };
    }),

  fork: async (input, engine, client) => {
    const checkpoint = resolveCheckpoint(input.checkpoint, engine.catalog);
    if (input.name !== undefined) requireValidName(input.name);
    const { checkpoint: _, ...wanted } = input;
    requireUsablePids(wanted.pids);
    const onForked = (done: number) => client.progress({ done, total: input.count, unit: "forks" });
    const options = { ...wanted, onForked };
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

  keep: (input, engine, client) =>
    withSession(input.session, engine, client, async (session) => {
      const isRunning = session.state === "running";
      const leftBytes = isRunning ? await keepMemory(requireLive(session, engine), engine) : 0;
      return { session: describeSession(session, engine), leftBytes };
    }),

  standby: (input, engine, client) =>
    withSession(input.session, engine, client, async (session) => {
      if (input.policy !== undefined) {
        engine.catalog.updateSession(session.id, { standby: input.policy });
      }
      return describeStandby(resolveSession(session.id, engine.catalog), engine);
    }),
};

function tooManyTags({ id }: CheckpointRow): WaypointError {
  return new WaypointError(
    "NAME_INVALID",
    `Checkpoint ${id} would have more than ${TAGS_MAX} tags.`,
    {
      hint: `Take some away first: \`waypoint tag ${id} --remove TAG\`.`,
    },
  );
}
