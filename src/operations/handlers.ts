import {
  createCheckpoint,
  forkCheckpoint,
  removeCheckpoints,
  showCheckpoint,
} from "../engine/checkpoint/index.ts";
import {
  attachSession,
  createSession,
  cutShort,
  describeSession,
  type EnginePorts,
  endInstance,
  execInSession,
  forwardPort,
  listForwards,
  listProcesses,
  removeSession,
  requireLive,
  requireUsablePids,
  requireValidName,
  type StreamPeer,
  stopForward,
  stopSession,
} from "../engine/session/index.ts";
import { describeStandby } from "../engine/standby/index.ts";
import { diffMoments } from "../engine/story/index.ts";
import type { SessionRow } from "../portable/catalog/index.ts";
import {
  removableCheckpoints,
  resolveCheckpoint,
  resolveMoment,
  resolveSession,
} from "../portable/lineage/index.ts";
import { WaypointError } from "../shared/errors/index.ts";
import type {
  OperationName,
  OperationOutput,
  OperationParsedInput,
} from "../shared/protocol/index.ts";
import { AUTO_HANDLERS } from "./auto-handlers.ts";
import { bisect } from "./bisect.ts";
import { endBrowsing, FILE_HANDLERS } from "./file-handlers.ts";
import { GOING_BACK_HANDLERS } from "./going-back-handlers.ts";
import { MERGE_HANDLERS } from "./merge-handlers.ts";
import { readLog } from "./read-log.ts";
import { refreshingStandbys } from "./refresh-standbys.ts";
import { removeFiles, removeSingleCheckpoints } from "./remove-parts.ts";
import { takeCheckpoint } from "./take-checkpoint.ts";
import { verify } from "./verify.ts";
import { withSession } from "./with-session.ts";

/** Does one operation. Input is validated already. */
export type OperationHandler<N extends OperationName> = (
  input: OperationParsedInput<N>,
  ports: EnginePorts,
  peer: StreamPeer,
) => Promise<OperationOutput<N>>;

/** The operations of sessions and checkpoints; the daemon adds those about itself. */
export type EngineOperations = {
  [N in Exclude<OperationName, `daemon.${string}`>]: OperationHandler<N>;
};

/** What each operation of the contract does: resolve names, take the lease, call the engine. */
export const HANDLERS: EngineOperations = refreshingStandbys({
  ...FILE_HANDLERS,
  ...GOING_BACK_HANDLERS,
  ...AUTO_HANDLERS,
  ...MERGE_HANDLERS,

  new: async (input, ports, peer) => {
    const created = await createSession(input, ports);
    await undoIfGone(peer, () => removeSession(resolveSession(created.id, ports.catalog), ports));
    return created;
  },

  ls: async (_input, ports) => ({
    sessions: ports.catalog.sessions().map((row) => describeSession(row, ports)),
  }),

  ps: async (input, ports) => {
    const session = resolveSession(input.session, ports.catalog);
    return { session: session.id, processes: listProcesses(session, ports) };
  },

  exec: async (input, ports, peer) =>
    execInSession(await resolveArrived(input.session, ports), input, peer, ports),

  attach: async (input, ports, peer) =>
    attachSession(await resolveArrived(input.session, ports), input, peer, ports),

  stop: (input, ports, peer) =>
    withSession(input.session, ports, peer, async (session) => {
      requireLive(session, ports);
      const checkpoint = input.checkpoint ? await captureBeforeStop(session, ports) : null;
      await stopSession(session, checkpoint, ports);
      const stopped = resolveSession(session.id, ports.catalog);
      return { session: describeSession(stopped, ports), checkpoint };
    }),

  rm: (input, ports, peer) => {
    const wanted = resolveSession(input.session, ports.catalog);
    // Whatever is under way in it is in vain, and may hang. From then on the removal is completed.
    if (input.force) cutShort(wanted, "removed", ports);
    const until = input.force ? { cancelled: new AbortController().signal } : peer;
    return withSession(wanted.id, ports, until, async (session) => {
      if (!input.force) requireNotRunning(session, ports);
      await endIfUnremovable(session, ports);
      const removable = removableCheckpoints(session, ports.catalog);
      const own = ports.catalog.checkpoints(session.id);
      const kept = own.filter(({ id }) => !removable.some((row) => row.id === id)).length;
      const removableIds = removable.map(({ id }) => id);
      await endBrowsing(removableIds, input.force, ports);
      await removeSession(session, ports);
      await removeCheckpoints(removableIds, ports);
      return {
        session: session.id,
        name: session.name,
        checkpointsRemoved: removable.length,
        checkpointsKept: kept,
      };
    });
  },

  "rm.checkpoints": (input, ports) => removeSingleCheckpoints(input, ports),

  "rm.files": (input, ports, peer) => removeFiles(input, ports, peer),

  checkpoint: takeCheckpoint,

  verify,

  bisect,

  log: (input, ports) => readLog(input, ports),

  show: (input, ports) => showCheckpoint(resolveCheckpoint(input.checkpoint, ports.catalog), ports),

  diff: async (input, ports, peer) => {
    const refs = {
      from: resolveMoment(input.from, ports.catalog),
      to: resolveMoment(input.to, ports.catalog),
    };
    return await diffMoments(refs, input, ports, peer.cancelled);
  },

  fork: async (input, ports, peer) => {
    const checkpoint = resolveCheckpoint(input.checkpoint, ports.catalog);
    if (input.name !== undefined) requireValidName(input.name);
    const { checkpoint: _, ...options } = input;
    requireUsablePids(options.pids);
    const { forks, readyMs, bindsLeftOut } = await forkCheckpoint(checkpoint, options, ports);
    await undoIfGone(peer, async () => {
      await Promise.all(forks.map((fork) => removeSession(fork, ports)));
    });
    return {
      sessions: forks.map(({ id, name }) => ({ id, name, pid: ports.live.get(id)?.pid ?? null })),
      readyMs,
      bindsLeftOut,
    };
  },

  forward: (input, ports, peer) =>
    withSession(input.session, ports, peer, (session) =>
      forwardPort(session, { ...input, to: resolveIfGiven(input.to, ports) }, ports),
    ),

  "forward.list": async (input, ports) => {
    const { session } = input;
    const row = session === undefined ? undefined : resolveSession(session, ports.catalog);
    return { forwards: listForwards(row, ports) };
  },

  "forward.stop": (input, ports, peer) =>
    withSession(input.session, ports, peer, async (session) =>
      stopForward(session, { ...input, to: resolveIfGiven(input.to, ports) }, ports),
    ),

  standby: (input, ports, peer) =>
    withSession(input.session, ports, peer, async (session) => {
      if (input.policy !== undefined) {
        ports.catalog.updateSession(session.id, { standby: input.policy });
      }
      return describeStandby(resolveSession(session.id, ports.catalog), ports);
    }),
});

/** @throws SESSION_WRONG_STATE  its processes live, whether they answer or not. */
function requireNotRunning({ id, name, state }: SessionRow, { live }: EnginePorts): void {
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
async function endIfUnremovable(session: SessionRow, ports: EnginePorts): Promise<void> {
  if (ports.store.health.now().state === "writable") return;
  ports.catalog.updateSession(session.id, { state: "stopped" });
  const live = ports.live.get(session.id);
  if (live !== undefined) {
    ports.live.delete(session.id, live.instanceId);
    live.link.end(new WaypointError("SESSION_ENDED", `Session ${session.name} was removed.`));
  }
  if (session.instance !== null) await endInstance(session.instance, ports);
  ports.store.health.requireWritable(
    `remove the files of session ${session.name}; its processes have ended`,
  );
}

/** Returns a session when its first process has answered this daemon, or has not in time. */
async function resolveArrived(reference: string, { catalog, live }: EnginePorts) {
  const { id } = resolveSession(reference, catalog);
  await live.arrived(id);
  return resolveSession(id, catalog);
}

function resolveIfGiven(reference: string | undefined, ports: EnginePorts) {
  return reference === undefined ? null : resolveSession(reference, ports.catalog);
}

/** What a stopped session can be started again from. */
async function captureBeforeStop(
  session: ReturnType<typeof resolveSession>,
  ports: EnginePorts,
): Promise<string> {
  const options = { trigger: "before-stop", intent: "before stop", name: null } as const;
  const more = { filesOnly: false, movesHead: true };
  return (await createCheckpoint(session, { ...options, ...more }, ports)).id;
}

/** A client that has gone, or does not want it any more: what was begun for it is undone. */
async function undoIfGone(peer: StreamPeer, undo: () => Promise<void>): Promise<void> {
  if (!peer.cancelled.aborted) return;
  await undo();
  peer.cancelled.throwIfAborted();
}
