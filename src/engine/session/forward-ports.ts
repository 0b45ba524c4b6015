import type { ForwardPlace } from "../../linux/network/index.ts";
import type { ForwardRow, SessionRow } from "../../portable/model/index.ts";
import { toWaypointError, WaypointError } from "../../shared/errors/index.ts";
import type { Forward } from "../../shared/protocol/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { requireLive } from "./describe-session.ts";

/** Which port is to lead where. */
export interface WantedForward {
  port: number;
  /** A free one if not given. */
  hostPort?: number | undefined;
  /** Session on whose loopback it is to be; null for the host's. */
  to: SessionRow | null;
}

/**
 * Brings a port of a running session to the host's loopback, or to another session's; it stays over
 * restores of both and the end of the daemon, until it is stopped or one of them is removed.
 *
 * **Requires** the caller holds the session's lease.
 * **On success** the port listens; whether a server is behind it shows with each connection.
 *
 * @throws PORT_IN_USE          it is taken, or the session's port leads to another one there.
 * @throws FORWARD_REFUSED      one of the sessions uses the host's network.
 * @throws SESSION_WRONG_STATE  one of them does not run.
 * @throws USAGE_INVALID        both are the same.
 */
export async function forwardPort(
  session: SessionRow,
  wanted: WantedForward,
  engine: Engine,
): Promise<Forward> {
  refuseHostNetwork(session, wanted);
  requireLive(session, engine);
  if (wanted.to !== null) requireLive(wanted.to, engine);
  const { port, hostPort } = wanted;
  const to = wanted.to?.id ?? null;
  const known = findForward(session, wanted, engine);
  if (known !== undefined) return await reopen(known, session, hostPort, engine);
  const other = engine.catalog.forwards().find((row) => row.to === to && row.hostPort === hostPort);
  if (other !== undefined) throw taken(other, engine);
  const draft = { session: session.id, port, hostPort: hostPort ?? 0, to };
  const row = { ...draft, hostPort: await listen(draft, engine) };
  try {
    engine.catalog.insertForward(row);
  } catch (error) {
    close(row, engine);
    throw error;
  }
  try {
    // The other session may have been restored, or be gone, since the port began to listen.
    if (wanted.to !== null) requireLive(wanted.to, engine);
    if (!isOpen(row, engine)) await listen(row, engine);
  } catch (error) {
    engine.catalog.deleteForward(row);
    close(row, engine);
    throw error;
  }
  return describeForward(row, engine);
}

/** Returns the forwarded ports of a session and those that lead to it, or all. */
export function listForwards(session: SessionRow | undefined, engine: Engine): Forward[] {
  return engine.catalog
    .forwards()
    .filter((row) => session === undefined || [row.session, row.to].includes(session.id))
    .map((row) => describeForward(row, engine));
}

/** Stops forwarding a port and ends its connections. @throws FORWARD_NOT_FOUND */
export function stopForward(session: SessionRow, wanted: WantedForward, engine: Engine): Forward {
  const row = findForward(session, wanted, engine);
  if (row === undefined) {
    const where = wanted.to === null ? "" : ` to session ${wanted.to.name}`;
    throw new WaypointError(
      "FORWARD_NOT_FOUND",
      `Port ${wanted.port} of session ${session.name} is not forwarded${where}.`,
      { hint: `\`waypoint forward ${session.name}\` lists those that are.` },
    );
  }
  engine.catalog.deleteForward(row);
  close(row, engine);
  return describeForward(row, engine);
}

/** Stops listening for a session that is being removed; its rows go with the session's. */
export function closeForwards(sessionId: string, engine: Engine): void {
  for (const row of engine.catalog.forwards()) {
    if ([row.session, row.to].includes(sessionId)) close(row, engine);
  }
}

/** Listens again on what the last daemon forwarded; a port that is taken by now is reported. */
export async function resumeForwards(engine: Engine): Promise<void> {
  for (const row of engine.catalog.forwards()) {
    if (row.to === null) await listenIfFree(row, engine);
  }
}

/** Listens in a new instance of a session on the ports that lead from it to others. */
export async function openForwardsIn(live: LiveInstance, engine: Engine): Promise<void> {
  for (const row of engine.catalog.forwards()) {
    if (row.to === live.sessionId && !isOpen(row, engine)) await listenIfFree(row, engine);
  }
}

async function listenIfFree(row: ForwardRow, engine: Engine): Promise<void> {
  try {
    await listen(row, engine);
  } catch (error) {
    const reason = toWaypointError(error).message;
    engine.logger.warn("a port is not forwarded again", { ...row, reason });
  }
}

/** Asking for what is there already is no error, and mends it where it does not listen. */
async function reopen(
  known: ForwardRow,
  session: SessionRow,
  hostPort: number | undefined,
  engine: Engine,
): Promise<Forward> {
  if (hostPort !== undefined && hostPort !== known.hostPort) {
    throw new WaypointError(
      "PORT_IN_USE",
      `Port ${known.port} of session ${session.name} is forwarded already, to ${known.hostPort}.`,
      { hint: `\`waypoint forward ${session.name} ${known.port} --stop\` frees it.` },
    );
  }
  if (!isOpen(known, engine)) await listen(known, engine);
  return describeForward(known, engine);
}

function findForward(
  session: SessionRow,
  { port, to }: WantedForward,
  engine: Engine,
): ForwardRow | undefined {
  return engine.catalog
    .forwards()
    .find((row) => row.session === session.id && row.port === port && row.to === (to?.id ?? null));
}

/** Returns where a forward listens; null while the session on whose loopback that is does not run. */
function placeOf({ to, hostPort }: ForwardRow, engine: Engine): ForwardPlace | null {
  if (to === null) return { netnsPath: null, port: hostPort };
  const netnsPath = netnsPathOf(to, engine);
  return netnsPath === null ? null : { netnsPath, port: hostPort };
}

function netnsPathOf(sessionId: string, engine: Engine): string | null {
  const live = engine.live.get(sessionId);
  return live === undefined ? null : engine.network.netnsPath(live.instanceId);
}

function isOpen(row: ForwardRow, engine: Engine): boolean {
  const place = placeOf(row, engine);
  return place !== null && engine.forwards.isOpen(place);
}

function close(row: ForwardRow, engine: Engine): void {
  const place = placeOf(row, engine);
  if (place !== null) engine.forwards.close(place);
}

async function listen(row: ForwardRow, engine: Engine): Promise<number> {
  const place = placeOf(row, engine);
  if (place === null) return row.hostPort;
  const netnsPath = () => netnsPathOf(row.session, engine);
  return await engine.forwards.open(place, { port: row.port, netnsPath });
}

function describeForward(row: ForwardRow, engine: Engine): Forward {
  const nameOf = (id: string) => engine.catalog.session(id)?.name ?? id;
  const toName = row.to === null ? null : nameOf(row.to);
  const behind = engine.live.get(row.session);
  return {
    ...row,
    ...{ sessionName: nameOf(row.session), toName, listening: isOpen(row, engine) },
    answered: behind !== undefined && engine.sandbox.isListeningOn(behind.pid, row.port),
  };
}

function refuseHostNetwork(session: SessionRow, { port, to }: WantedForward): void {
  if (session.id === to?.id) {
    throw new WaypointError("USAGE_INVALID", `Session ${session.name} reaches its own ports.`, {
      hint: "Name another session, or none to reach the port from this machine.",
    });
  }
  const onHost = session.net === "host" ? session : to?.net === "host" ? to : null;
  if (onHost === null) return;
  throw new WaypointError(
    "FORWARD_REFUSED",
    `Session ${onHost.name} uses the host's network, so its ports are the host's own.`,
    {
      hint:
        onHost === session
          ? `Port ${port} of this machine is port ${port} of the session.`
          : "Forward the port without `--to`: the session reaches this machine's loopback.",
    },
  );
}

function taken(other: ForwardRow, engine: Engine): WaypointError {
  const { sessionName, toName } = describeForward(other, engine);
  const whose = toName === null ? "" : ` of session ${toName}`;
  return new WaypointError(
    "PORT_IN_USE",
    `Port ${other.hostPort}${whose} leads to port ${other.port} of session ${sessionName} already.`,
    { hint: "Choose another port, or name none to get one that is free." },
  );
}
