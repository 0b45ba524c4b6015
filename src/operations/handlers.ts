import {
  createCheckpoint,
  forkCheckpoint,
  removeCheckpoints,
  showCheckpoint,
} from "../engine/checkpoint/index.ts";
import type { Engine, StreamClient } from "../engine/ports/index.ts";
import {
  attachSession,
  createSession,
  cutShort,
  describeSession,
  endInstance,
  execInSession,
  forwardPort,
  listForwards,
  listProcesses,
  removeSession,
  requireLive,
  requireUsablePids,
  requireValidName,
  stopForward,
  stopSession,
} from "../engine/session/index.ts";
import { describeStandby } from "../engine/standby/index.ts";
import { diffMoments } from "../engine/story/index.ts";
import {
  removableCheckpoints,
  resolveCheckpoint,
  resolveMoment,
  resolveSession,
} from "../portable/lineage/index.ts";
import type { SessionRow } from "../portable/model/index.ts";
import { WaypointError } from "../shared/errors/index.ts";
import type {
  OperationName,
  OperationOutput,
  OperationParsedInput,
} from "../shared/protocol/index.ts";
import { AUTO_HANDLERS } from "./auto-handlers.ts";
import { bisect } from "./bisect.ts";
import { endBrowsing, FILE_HANDLERS } from "./file-handlers.ts";
import { MERGE_HANDLERS } from "./merge-handlers.ts";
import { readLog } from "./read-log.ts";
import { refreshingStandbys } from "./refresh-standbys.ts";
import { removeFiles, removeSingleCheckpoints } from "./remove-parts.ts";
import { RESTORE_HANDLERS } from "./restore-handlers.ts";
import { takeCheckpoint } from "./take-checkpoint.ts";
import { undoIfGone } from "./undo-if-gone.ts";
import { verify } from "./verify.ts";
import { withSession } from "./with-session.ts";

/** Does one operation. Input is validated already. */
export type OperationHandler<N extends OperationName> = (
  input: OperationParsedInput<N>,
  engine: Engine,
  client: StreamClient,
) => Promise<OperationOutput<N>>;

/** The operations of sessions and checkpoints; the daemon adds those about itself. */
export type EngineOperations = {
  [N in Exclude<OperationName, `daemon.${string}`>]: OperationHandler<N>;
};

/** What each operation of the contract does: resolve names, take the lease, call the engine. */
export const HANDLERS: EngineOperations = refreshingStandbys({
  ...FILE_HANDLERS,
  ...RESTORE_HANDLERS,
  ...AUTO_HANDLERS,
  ...MERGE_HANDLERS,

  new: async (input, engine, client) => {
    const created = await createSession(input, engine);
    await undoIfGone(client, () =>
      removeSession(resolveSession(created.id, engine.catalog), engine),
    );
    return created;
  },

  ls: async (_input, engine) => ({
    sessions: engine.catalog.sessions().map((row) => describeSession(row, engine)),
  }),

  ps: async (input, engine) => {
    const session = resolveSession(input.session, engine.catalog);
    return { session: session.id, processes: listProcesses(session, engine) };
  },

  exec: async (input, engine, client) =>
    execInSession(await resolveArrived(input.session, engine), input, client, engine),

  attach: async (input, engine, client) =>
    attachSession(await resolveArrived(input.session, engine), input, client, engine),

  stop: (input, engine, client) =>
    withSession(input.session, engine, client, async (session) => {
      requireLive(session, engine);
      const checkpoint = input.checkpoint ? await captureBeforeStop(session, engine) : null;
      await stopSession(session, checkpoint, engine);
      const stopped = resolveSession(session.id, engine.catalog);
      return { session: describeSession(stopped, engine), checkpoint };
    }),

  rm: (input, engine, client) => {
    const wanted = resolveSession(input.session, engine.catalog);
    // Whatever is under way in it is in vain, and may hang. From then on the removal is completed.
    if (input.force) cutShort(wanted, "removed", engine);
    const until = input.force ? { cancelled: new AbortController().signal } : client;
    return withSession(wanted.id, engine, until, async (session) => {
      if (!input.force) requireNotRunning(session, engine);
      await endIfUnremovable(session, engine);
      const removable = removableCheckpoints(session, engine.catalog);
      const own = engine.catalog.checkpoints(session.id);
      const kept = own.filter(({ id }) => !removable.some((row) => row.id === id)).length;
      const removableIds = removable.map(({ id }) => id);
      await endBrowsing(removableIds, input.force, engine);
      await removeSession(session, engine);
      await removeCheckpoints(removableIds, engine);
      return {
        session: session.id,
        name: session.name,
        checkpointsRemoved: removable.length,
        checkpointsKept: kept,
      };
    });
  },

  "rm.checkpoints": (input, engine, client) => removeSingleCheckpoints(input, engine, client),

  "rm.files": (input, engine, client) => removeFiles(input, engine, client),

  checkpoint: takeCheckpoint,

  verify,

  bisect,

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
      readyMs,
      bindsLeftOut,
    };
  },

  forward: (input, engine, client) =>
    withSession(input.session, engine, client, (session) =>
      forwardPort(session, { ...input, to: resolveIfGiven(input.to, engine) }, engine),
    ),

  "forward.list": async (input, engine) => {
    const { session } = input;
    const row = session === undefined ? undefined : resolveSession(session, engine.catalog);
    return { forwards: listForwards(row, engine) };
  },

  "forward.stop": (input, engine, client) =>
    withSession(input.session, engine, client, async (session) =>
      stopForward(session, { ...input, to: resolveIfGiven(input.to, engine) }, engine),
    ),

  standby: (input, engine, client) =>
    withSession(input.session, engine, client, async (session) => {
      if (input.policy !== undefined) {
        engine.catalog.updateSession(session.id, { standby: input.policy });
      }
      return describeStandby(resolveSession(session.id, engine.catalog), engine);
    }),
});

/** @throws SESSION_WRONG_STATE  its processes live, whether they answer or not. */
function requireNotRunning({ id, name, state }: SessionRow, { live }: Engine): void {
  if (live.get(id) === undefined && state !== "running") return;
  throw new WaypointError("SESSION_WRONG_STATE", `Session ${name} is running.`, {
    hint: `Stop it first, or use \`waypoint rm --force ${name}\`: its files and checkpoints are gone then.`,
  });
}

/**
 * On a store that cannot be written a session cannot be removed, but its processes can be ended: with
 * its row gone, the next daemon would find its checkpoints without it.
 *
 * @throws STORE_FAILED  its processes have ended; it is still listed.
 */
async function endIfUnremovable(session: SessionRow, engine: Engine): Promise<void> {
  if (engine.store.health.now().state === "writable") return;
  engine.catalog.updateSession(session.id, { state: "stopped" });
  const live = engine.live.get(session.id);
  if (live !== undefined) {
    engine.live.delete(session.id, live.instanceId);
    live.link.end(new WaypointError("SESSION_ENDED", `Session ${session.name} was removed.`));
  }
  if (session.instance !== null) await endInstance(session.instance, engine);
  engine.store.health.requireWritable(
    `remove the files of session ${session.name}; its processes have ended`,
  );
}

/** Returns a session when its first process has answered this daemon, or has not in time. */
async function resolveArrived(reference: string, { catalog, live }: Engine) {
  const { id } = resolveSession(reference, catalog);
  await live.arrived(id);
  return resolveSession(id, catalog);
}

function resolveIfGiven(reference: string | undefined, engine: Engine) {
  return reference === undefined ? null : resolveSession(reference, engine.catalog);
}

/** What a stopped session can be started again from. */
async function captureBeforeStop(
  session: ReturnType<typeof resolveSession>,
  engine: Engine,
): Promise<string> {
  const options = { trigger: "before-stop", intent: "before stop", name: null } as const;
  const more = { filesOnly: false, movesHead: true };
  return (await createCheckpoint(session, { ...options, ...more }, engine)).id;
}
