import type { ForwardPlace } from "../../linux/network/index.ts";
import type { ForwardRow, SessionRow } from "../../portable/catalog/index.ts";
import { toWaypointError, WaypointError } from "../../shared/errors/index.ts";
import type { Forward } from "../../shared/protocol/index.ts";
import { requireLive } from "./describe-session.ts";
import type { LiveInstance } from "./live-sessions.ts";
import type { EnginePorts } from "./ports.ts";

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
  ports: EnginePorts,
): Promise<Forward> {
  refuseHostNetwork(session, wanted);
  requireLive(session, ports);
  if (wanted.to !== null) requireLive(wanted.to, ports);
  const { port, hostPort } = wanted;
  const to = wanted.to?.id ?? null;
  const known = findForward(session, wanted, ports);
  if (known !== undefined) return await reopen(known, session, hostPort, ports);
  const other = ports.catalog.forwards().find((row) => row.to === to && row.hostPort === hostPort);
  if (other !== undefined) throw taken(other, ports);
  const draft = { session: session.id, port, hostPort: hostPort ?? 0, to };
  const row = { ...draft, hostPort: await listen(draft, ports) };
  try {
    ports.catalog.insertForward(row);
  } catch (error) {
    close(row, ports);
    throw error;
  }
  try {
    // The other session may have been restored, or be gone, since the port began to listen.
    if (wanted.to !== null) requireLive(wanted.to, ports);
    if (!isOpen(row, ports)) await listen(row, ports);
  } catch (error) {
    ports.catalog.deleteForward(row);
    close(row, ports);
    throw error;
  }
  return describeForward(row, ports);
}

/** Returns the forwarded ports of a session and those that lead to it, or all. */
export function listForwards(session: SessionRow | undefined, ports: EnginePorts): Forward[] {
  return ports.catalog
    .forwards()
    .filter((row) => session === undefined || [row.session, row.to].includes(session.id))
    .map((row) => describeForward(row, ports));
}

/** Stops forwarding a port and ends its connections. @throws FORWARD_NOT_FOUND */
export function stopForward(
  session: SessionRow,
  wanted: WantedForward,
  ports: EnginePorts,
): Forward {
  const row = findForward(session, wanted, ports);
  if (row === undefined) {
    const where = wanted.to === null ? "" : ` to session ${wanted.to.name}`;
    throw new WaypointError(
      "FORWARD_NOT_FOUND",
      `Port ${wanted.port} of session ${session.name} is not forwarded${where}.`,
      { hint: `\`waypoint forward ${session.name}\` lists those that are.` },
    );
  }
  ports.catalog.deleteForward(row);
  close(row, ports);
  return describeForward(row, ports);
}

/** Stops listening for a session that is being removed; its rows go with the session's. */
export function closeForwards(sessionId: string, ports: EnginePorts): void {
  for (const row of ports.catalog.forwards()) {
    if ([row.session, row.to].includes(sessionId)) close(row, ports);
  }
}

/** Listens again on what the last daemon forwarded; a port that is taken by now is reported. */
export async function resumeForwards(ports: EnginePorts): Promise<void> {
  for (const row of ports.catalog.forwards()) {
    if (row.to === null) await listenIfFree(row, ports);
  }
}

/** Listens in a new incarnation of a session on the ports that lead from it to others. */
export async function openForwardsIn(live: LiveInstance, ports: EnginePorts): Promise<void> {
  for (const row of ports.catalog.forwards()) {
    if (row.to === live.sessionId && !isOpen(row, ports)) await listenIfFree(row, ports);
  }
}

async function listenIfFree(row: ForwardRow, ports: EnginePorts): Promise<void> {
  try {
    await listen(row, ports);
  } catch (error) {
    const reason = toWaypointError(error).message;
    ports.logger.warn("a port is not forwarded again", { ...row, reason });
  }
}

/** Asking for what is there already is no error, and mends it where it does not listen. */
async function reopen(
  known: ForwardRow,
  session: SessionRow,
  hostPort: number | undefined,
  ports: EnginePorts,
): Promise<Forward> {
  if (hostPort !== undefined && hostPort !== known.hostPort) {
    throw new WaypointError(
      "PORT_IN_USE",
      `Port ${known.port} of session ${session.name} is forwarded already, to ${known.hostPort}.`,
      { hint: `\`waypoint forward ${session.name} ${known.port} --stop\` frees it.` },
    );
  }
  if (!isOpen(known, ports)) await listen(known, ports);
  return describeForward(known, ports);
}

function findForward(
  session: SessionRow,
  { port, to }: WantedForward,
  ports: EnginePorts,
): ForwardRow | undefined {
  return ports.catalog
    .forwards()
    .find((row) => row.session === session.id && row.port === port && row.to === (to?.id ?? null));
}

/** Returns where a forward listens; null while the session on whose loopback that is does not run. */
function placeOf({ to, hostPort }: ForwardRow, ports: EnginePorts): ForwardPlace | null {
  if (to === null) return { netnsPath: null, port: hostPort };
  const netnsPath = netnsPathOf(to, ports);
  return netnsPath === null ? null : { netnsPath, port: hostPort };
}

function netnsPathOf(sessionId: string, ports: EnginePorts): string | null {
  const live = ports.live.get(sessionId);
  return live === undefined ? null : ports.network.netnsPath(live.instanceId);
}

function isOpen(row: ForwardRow, ports: EnginePorts): boolean {
  const place = placeOf(row, ports);
  return place !== null && ports.forwards.isOpen(place);
}

function close(row: ForwardRow, ports: EnginePorts): void {
  const place = placeOf(row, ports);
  if (place !== null) ports.forwards.close(place);
}

async function listen(row: ForwardRow, ports: EnginePorts): Promise<number> {
  const place = placeOf(row, ports);
  if (place === null) return row.hostPort;
  const netnsPath = () => netnsPathOf(row.session, ports);
  return await ports.forwards.open(place, { port: row.port, netnsPath });
}

function describeForward(row: ForwardRow, ports: EnginePorts): Forward {
  const nameOf = (id: string) => ports.catalog.session(id)?.name ?? id;
  const toName = row.to === null ? null : nameOf(row.to);
  const behind = ports.live.get(row.session);
  return {
    ...row,
    ...{ sessionName: nameOf(row.session), toName, listening: isOpen(row, ports) },
    answered: behind !== undefined && ports.sandbox.isListeningOn(behind.pid, row.port),
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

function taken(other: ForwardRow, ports: EnginePorts): WaypointError {
  const { sessionName, toName } = describeForward(other, ports);
  const whose = toName === null ? "" : ` of session ${toName}`;
  return new WaypointError(
    "PORT_IN_USE",
    `Port ${other.hostPort}${whose} leads to port ${other.port} of session ${sessionName} already.`,
    { hint: "Choose another port, or name none to get one that is free." },
  );
}
