import { Rollback, settleAll } from "../../base/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Bind } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import {
  adoptInstance,
  automaticOf,
  type BindChoice,
  claimName,
  findMissingBinds,
  isFreeToMakeUp,
  numberedNames,
  removeInstance,
  removeSession,
  requireFreeName,
  verifyCommandOf,
} from "../session/index.ts";
import { unparkFor } from "../standby/index.ts";
import { buildFrom } from "./build-from.ts";
import { requireCaptured } from "./held-checkpoints.ts";
import { syncSoon } from "./sync-soon.ts";

/** What a fork may have other than its origin. */
type ForkChoice = BindChoice & {
  pids?: number | null | undefined;
  /** What was done outside: with its outcomes, or as if nothing was. @defaultValue replay */
  effects?: "replay" | "own";
  /** They are removed soon, and get the memory that they touch alone. @defaultValue false */
  throwaway?: boolean;
};

/**
 * Starts new sessions from a checkpoint; the session that it captured is untouched.
 *
 * **On success** every fork has answered.
 * **On failure** none of them is left.
 *
 * @throws CRIU_RESTORE_FAILED | FORK_REFUSED | NAME_INVALID | NAME_IN_USE | STORE_FULL
 * | BIND_SOURCE_MISSING
 */
export async function forkCheckpoint(
  wanted: CheckpointRow,
  options: ForkChoice & {
    count: number;
    name?: string | undefined;
    onForked?: (count: number) => void;
  },
  engine: Engine,
): Promise<{ forks: SessionRow[]; readyMs: number; bindsLeftOut: Bind[] }> {
  const startedAtMs = performance.now();
  refuseSharedPorts(wanted);
  // One that was made in advance is in its groups; to get ready makes every start of a program wait.
  const isMade = options.count === 1 && engine.standbys.has(wanted.id);
  using _entering = isMade ? null : engine.limits.prepareToEnter(wanted);
  const checkpoint = await requireCaptured(wanted, engine);
  const bindsLeftOut = findMissingBinds(checkpoint.binds, options, engine);
  const names = forkNames(checkpoint, options, engine);
  await using rollback = new Rollback();
  let forkedCount = 0;
  const forks = await settleAll(
    names.map((name) =>
      engine.leases.run(`name:${name}`, async () => {
        const made = await forkOne(checkpoint, { ...options, name }, engine);
        rollback.defer(`remove fork ${name}`, () => removeSession(made, engine));
        forkedCount += 1;
        options.onForked?.(forkedCount);
        return made;
      }),
    ),
  );
  rollback.keep();
  const readyMs = Math.round((performance.now() - startedAtMs) * 100) / 100;
  return { forks, readyMs, bindsLeftOut };
}

async function forkOne(
  checkpoint: CheckpointRow,
  choice: ForkChoice & { name: string },
  engine: Engine,
): Promise<SessionRow> {
  const { catalog } = engine;
  const { name, withoutBinds, effects, pids = checkpoint.pidsLimit, throwaway = false } = choice;
  const startedAtMs = performance.now();
  requireFreeName(name, engine);
  await engine.store.space.requireRoom("fork a checkpoint");
  // One that was made in advance is under the limits of the checkpoint.
  const isAsMade = pids === checkpoint.pidsLimit;
  const standby = isAsMade ? await unparkFor(checkpoint, ["made"], engine) : null;
  const instanceId = standby?.instanceId ?? `${engine.newId()}-1`;
  const session = {
    ...sessionFrom(checkpoint, { name, instanceId }, engine),
    pidsLimit: pids,
  };
  const live =
    standby === null
      ? await buildFrom(
          { checkpoint, withoutBinds, touchedOnly: throwaway },
          session,
          instanceId,
          engine,
        )
      : { ...standby, sessionId: session.id };
  const note = standby === null ? catalog.transaction : catalog.quickTransaction;
  try {
    if (effects !== "own") engine.effects.copy(checkpoint.session, session.id);
    note.call(catalog, () => {
      catalog.insertSession(session);
      catalog.operations.insert({
        session: session.id,
        kind: "fork",
        checkpoint: checkpoint.id,
        undo: null,
        at: session.createdAt,
        readyMs: Math.round((performance.now() - startedAtMs) * 100) / 100,
        stateBefore: null,
      });
    });
  } catch (error) {
    engine.effects.remove(session.id);
    await removeInstance(instanceId, engine);
    throw error;
  }
  adoptInstance(live, engine);
  if (standby !== null) syncSoon(engine);
  return session;
}

/** Returns the row of a fork, whose first instance is named after it. */
export function sessionFrom(
  checkpoint: CheckpointRow,
  { name, instanceId }: { name: string; instanceId: string },
  { catalog }: Engine,
): SessionRow {
  const captured = catalog.session(checkpoint.session);
  return {
    id: instanceId.slice(0, instanceId.lastIndexOf("-")),
    name,
    state: "running",
    base: checkpoint.base,
    net: checkpoint.net,
    netAllow: checkpoint.netAllow,
    user: checkpoint.user,
    cwd: checkpoint.cwd,
    binds: checkpoint.binds,
    hostMounts: checkpoint.hostMounts,
    createdAt: new Date().toISOString(),
    head: checkpoint.id,
    forkedFrom: checkpoint.id,
    instance: instanceId,
    instanceCount: 1,
    shell: checkpoint.shell,
    memoryLimitBytes: checkpoint.memoryLimitBytes,
    cpuLimit: checkpoint.cpuLimit,
    pidsLimit: checkpoint.pidsLimit,
    diskLimitBytes: checkpoint.diskLimitBytes,
    standby: captured?.standby ?? null,
    approval: captured?.approval ?? null,
    agentState: checkpoint.agentState,
    ...verifyCommandOf(captured ?? null),
    ...automaticOf(captured?.auto ?? null),
  };
}

function forkNames(
  checkpoint: CheckpointRow,
  { count, name }: { count: number; name?: string | undefined },
  engine: Engine,
): string[] {
  if (name !== undefined) {
    return numberedNames(name, count).map((wanted) => claimName(wanted, engine));
  }
  const names: string[] = [];
  const stem = checkpoint.sessionName.slice(0, 48);
  for (let number = 1; names.length < count; number += 1) {
    const candidate = `${stem}-fork-${number}`;
    if (isFreeToMakeUp(candidate, engine)) names.push(candidate);
  }
  return names;
}

/** @throws FORK_REFUSED  what it captured uses the host's own ports. */
export function refuseSharedPorts(checkpoint: CheckpointRow): void {
  if (checkpoint.net !== "host" || checkpoint.content === "files") return;
  throw new WaypointError(
    "FORK_REFUSED",
    `Checkpoint ${checkpoint.id} uses the host's network, so a fork would fight over its ports.`,
    { hint: "Start the session with `--net nat`: each fork then has all ports to itself." },
  );
}
