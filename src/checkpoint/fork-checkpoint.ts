import type { CheckpointRow, SessionRow } from "../catalog/index.ts";
import { WaypointError } from "../errors/index.ts";
import {
  adoptInstance,
  buildFreshInstance,
  buildInstanceFrom,
  claimName,
  type EnginePorts,
  isFreeToMakeUp,
  type LiveInstance,
  numberedNames,
  removeSession,
} from "../session/index.ts";

const SHELL_DEFAULT = { env: {}, columns: 120, rows: 40 };

/**
 * Starts new sessions from a checkpoint; the session that it captured is untouched.
 *
 * **On success** every fork has answered.
 * **On failure** none of them is left.
 *
 * @throws CRIU_RESTORE_FAILED | FORK_REFUSED | NAME_INVALID | NAME_IN_USE | STORE_FULL
 */
export async function forkCheckpoint(
  checkpoint: CheckpointRow,
  options: { count: number; name: string | undefined },
  ports: EnginePorts,
): Promise<{ forks: SessionRow[]; readyMs: number }> {
  const startedAtMs = performance.now();
  refuseSharedPorts(checkpoint);
  const names = forkNames(checkpoint, options, ports);
  const outcomes = await Promise.allSettled(
    names.map((name) => ports.leases.run(`name:${name}`, () => forkOne(checkpoint, name, ports))),
  );
  const forks = outcomes.flatMap((outcome) =>
    outcome.status === "fulfilled" ? [outcome.value] : [],
  );
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (failure !== undefined) {
    await Promise.all(forks.map((fork) => removeSession(fork, ports)));
    throw failure.reason;
  }
  return { forks, readyMs: Math.round((performance.now() - startedAtMs) * 100) / 100 };
}

async function forkOne(
  checkpoint: CheckpointRow,
  name: string,
  ports: EnginePorts,
): Promise<SessionRow> {
  const { catalog } = ports;
  const startedAtMs = performance.now();
  claimName(name, ports);
  await ports.store.requireRoom("fork a checkpoint");
  const id = ports.newId();
  const session: SessionRow = {
    id,
    name,
    state: "running",
    base: checkpoint.base,
    net: checkpoint.net,
    user: checkpoint.user,
    cwd: checkpoint.cwd,
    createdAt: new Date().toISOString(),
    head: checkpoint.id,
    forkedFrom: checkpoint.id,
    instance: `${id}-1`,
    instanceCount: 1,
  };
  const live = await buildFrom(checkpoint, session, `${id}-1`, ports);
  catalog.transaction(() => {
    catalog.insertSession(session);
    catalog.insertOperation({
      session: id,
      kind: "fork",
      checkpoint: checkpoint.id,
      undo: null,
      at: session.createdAt,
      readyMs: Math.round((performance.now() - startedAtMs) * 100) / 100,
      stateBefore: null,
    });
  });
  adoptInstance(live, ports);
  return session;
}

/** Builds an incarnation from a checkpoint: its processes, or a fresh shell on its files. */
export function buildFrom(
  checkpoint: CheckpointRow,
  session: SessionRow,
  instanceId: string,
  ports: EnginePorts,
): Promise<LiveInstance> {
  if (checkpoint.content === "full") {
    return buildInstanceFrom(session, instanceId, checkpoint, ports);
  }
  const shell = { ...SHELL_DEFAULT, filesFrom: checkpoint.id };
  return buildFreshInstance(session, instanceId, shell, ports);
}

function forkNames(
  checkpoint: CheckpointRow,
  { count, name }: { count: number; name: string | undefined },
  ports: EnginePorts,
): string[] {
  if (name !== undefined) {
    return numberedNames(name, count).map((wanted) => claimName(wanted, ports));
  }
  const names: string[] = [];
  const stem = checkpoint.sessionName.slice(0, 48);
  for (let number = 1; names.length < count; number += 1) {
    const candidate = `${stem}-fork-${number}`;
    if (isFreeToMakeUp(candidate, ports)) names.push(candidate);
  }
  return names;
}

function refuseSharedPorts(checkpoint: CheckpointRow): void {
  if (checkpoint.net !== "host" || checkpoint.content === "files") return;
  throw new WaypointError(
    "FORK_REFUSED",
    `Checkpoint ${checkpoint.id} uses the host's network, so a fork would fight over its ports.`,
    { hint: "Start the session with `--net nat`: each fork then has all ports to itself." },
  );
}
