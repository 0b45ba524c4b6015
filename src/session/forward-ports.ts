import type { ForwardRow, SessionRow } from "../catalog/index.ts";
import { toWaypointError, WaypointError } from "../errors/index.ts";
import type { Forward } from "../protocol/index.ts";
import { requireLive } from "./describe-session.ts";
import type { EnginePorts } from "./ports.ts";

/**
 * Brings a port of a running session to the host's loopback; it stays over restores and the end of
 * the daemon, until it is stopped or the session is removed.
 *
 * **Requires** the caller holds the session's lease.
 * **On success** the port listens; whether a server is behind it shows with each connection.
 *
 * @throws PORT_IN_USE          it is taken, or the session's port leads to another one.
 * @throws FORWARD_REFUSED      the session uses the host's network.
 * @throws SESSION_WRONG_STATE  it does not run.
 */
export async function forwardPort(
  session: SessionRow,
  wanted: { port: number; hostPort: number | undefined },
  ports: EnginePorts,
): Promise<Forward> {
  refuseHostNetwork(session, wanted.port);
  requireLive(session, ports);
  const known = ports.catalog
    .forwards()
    .find((row) => row.session === session.id && row.port === wanted.port);
  if (known !== undefined) return await reopen(known, session, wanted.hostPort, ports);
  const other = ports.catalog.forwards().find(({ hostPort }) => hostPort === wanted.hostPort);
  if (other !== undefined) throw taken(other, ports);
  const hostPort = await listen({ ...wanted, session: session.id }, ports);
  const row = { session: session.id, port: wanted.port, hostPort };
  try {
    ports.catalog.insertForward(row);
  } catch (error) {
    ports.forwards.close(hostPort);
    throw error;
  }
  return describeForward(row, ports);
}

/** Returns the forwarded ports of a session, or of all. */
export function listForwards(session: SessionRow | undefined, ports: EnginePorts): Forward[] {
  return ports.catalog
    .forwards()
    .filter((row) => session === undefined || row.session === session.id)
    .map((row) => describeForward(row, ports));
}

/** Stops forwarding a port and ends its connections. @throws FORWARD_NOT_FOUND */
export function stopForward(session: SessionRow, port: number, ports: EnginePorts): Forward {
  const row = ports.catalog
    .forwards()
    .find((forward) => forward.session === session.id && forward.port === port);
  if (row === undefined) {
    throw new WaypointError(
      "FORWARD_NOT_FOUND",
      `Port ${port} of session ${session.name} is not forwarded.`,
      { hint: `\`waypoint forward ${session.name}\` lists those that are.` },
    );
  }
  ports.catalog.deleteForward(row.hostPort);
  ports.forwards.close(row.hostPort);
  return describeForward(row, ports);
}

/** Stops listening for a session that is being removed; its rows go with the session's. */
export function closeForwards(sessionId: string, ports: EnginePorts): void {
  for (const { session, hostPort } of ports.catalog.forwards()) {
    if (session === sessionId) ports.forwards.close(hostPort);
  }
}

/** Listens again on what the last daemon forwarded; a port that is taken by now is reported. */
export async function resumeForwards(ports: EnginePorts): Promise<void> {
  for (const row of ports.catalog.forwards()) {
    try {
      await listen(row, ports);
    } catch (error) {
      const reason = toWaypointError(error).message;
      ports.logger.warn("a port is not forwarded again", { hostPort: row.hostPort, reason });
    }
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
  if (!ports.forwards.isOpen(known.hostPort)) await listen(known, ports);
  return describeForward(known, ports);
}

function listen(
  forward: { session: string; port: number; hostPort: number | undefined },
  ports: EnginePorts,
): Promise<number> {
  return ports.forwards.open(forward.hostPort ?? 0, {
    port: forward.port,
    netnsPath: () => {
      const live = ports.live.get(forward.session);
      return live === undefined ? null : ports.network.netnsPath(live.instanceId);
    },
  });
}

function describeForward(row: ForwardRow, ports: EnginePorts): Forward {
  const sessionName = ports.catalog.session(row.session)?.name ?? row.session;
  return { ...row, sessionName, listening: ports.forwards.isOpen(row.hostPort) };
}

function refuseHostNetwork(session: SessionRow, port: number): void {
  if (session.net !== "host") return;
  throw new WaypointError(
    "FORWARD_REFUSED",
    `Session ${session.name} uses the host's network, so its ports are the host's own.`,
    { hint: `Port ${port} of this machine is port ${port} of the session.` },
  );
}

function taken(other: ForwardRow, ports: EnginePorts): WaypointError {
  const { sessionName } = describeForward(other, ports);
  return new WaypointError(
    "PORT_IN_USE",
    `Port ${other.hostPort} leads to port ${other.port} of session ${sessionName} already.`,
    { hint: "Choose another port, or name none to get one that is free." },
  );
}
