import { once } from "node:events";
import { closeSync } from "node:fs";
import { createServer, type Server, Socket } from "node:net";
import { isSystemError } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { bindToLoopback, openTcpSocketIn } from "../kernel/index.ts";

/** Where forwarded connections arrive: nobody outside the machine, or session, can make one. */
const LOOPBACK = "127.0.0.1";

/** A port of a loopback: the host's, or that of a namespace. */
export interface ForwardPlace {
  /** Null for the host's. */
  netnsPath: string | null;
  port: number;
}

/** A port of a session, in whatever namespace the session has at the moment. */
export interface ForwardTarget {
  port: number;
  /** Null while the session does not run. */
  netnsPath: () => string | null;
}

interface OpenForward {
  place: ForwardPlace;
  server: Server;
  connections: Set<Socket>;
}

/**
 * The ports of the host's loopback, and of sessions' loopbacks, that lead into sessions.
 *
 * A connection goes on inside with a socket that was made in the session's namespace, so it
 * arrives on the session's own loopback and needs neither link nor rule. The namespace is looked
 * up for each connection: a restored session has another one.
 */
export class PortForwards {
  readonly #open = new Map<string, OpenForward>();

  /**
   * Listens on a port of a loopback.
   *
   * @param place  port 0 for one that is free.
   * @returns the port.
   * @throws PORT_IN_USE
   */
  async open(place: ForwardPlace, target: ForwardTarget): Promise<number> {
    const connections = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      track(client, connections);
      void relay(client, target, connections);
    });
    try {
      server.listen(listenerAt(place));
      await once(server, "listening");
    } catch (error) {
      throw explain(error, place);
    }
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : place.port;
    const opened = { ...place, port };
    this.#open.set(keyOf(opened), { place: opened, server, connections });
    return port;
  }

  isOpen(place: ForwardPlace): boolean {
    return this.#open.has(keyOf(place));
  }

  /** Stops listening on a port and ends its connections; idempotent. */
  close(place: ForwardPlace): void {
    const forward = this.#open.get(keyOf(place));
    this.#open.delete(keyOf(place));
    forward?.server.close();
    for (const connection of forward?.connections ?? []) connection.destroy();
  }

  /** Closes all ports of a namespace, which would live on with them; idempotent. */
  closeAllIn(netnsPath: string): void {
    for (const { place } of [...this.#open.values()]) {
      if (place.netnsPath === netnsPath) this.close(place);
    }
  }
}

function keyOf({ netnsPath, port }: ForwardPlace): string {
  return `${netnsPath ?? ""}:${port}`;
}

/** Returns what Node listens on; a socket that was made in a namespace stays in it. */
function listenerAt({ netnsPath, port }: ForwardPlace) {
  if (netnsPath === null) return { host: LOOPBACK, port };
  const fd = openTcpSocketIn(netnsPath, 4);
  try {
    bindToLoopback(fd, port);
    return { fd };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Carries bytes both ways until both ends have finished; the failure of one ends the other. */
async function relay(
  client: Socket,
  target: ForwardTarget,
  connections: Set<Socket>,
): Promise<void> {
  const server = await connectInside(target);
  if (server === null || client.destroyed) {
    server?.destroy();
    client.resetAndDestroy();
    return;
  }
  track(server, connections);
  client.on("error", () => server.resetAndDestroy());
  server.on("error", () => client.resetAndDestroy());
  client.pipe(server).pipe(client);
}

/** Connects to a port of a session's loopback, whichever of IPv4 and IPv6 its server speaks. */
async function connectInside({ port, netnsPath }: ForwardTarget): Promise<Socket | null> {
  const path = netnsPath();
  if (path === null) return null;
  const inFamily4 = await connectIn(path, 4, port);
  return inFamily4 ?? (await connectIn(path, 6, port));
}

function connectIn(netnsPath: string, family: 4 | 6, port: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    try {
      const fd = openTcpSocketIn(netnsPath, family);
      const socket = new Socket({ fd, allowHalfOpen: true });
      socket.setNoDelay();
      socket.once("connect", () => resolve(socket));
      socket.once("error", () => resolve(null));
      socket.connect({ host: family === 4 ? "127.0.0.1" : "::1", port });
    } catch {
      // The session ended this moment, or its namespace has no IPv6.
      resolve(null);
    }
  });
}

function track(socket: Socket, connections: Set<Socket>): void {
  connections.add(socket);
  socket.on("close", () => connections.delete(socket));
  // Whoever breaks off is heard by "close"; an error without a listener would end the daemon.
  socket.on("error", () => {});
}

function explain(error: unknown, { netnsPath, port }: ForwardPlace): unknown {
  if (!isSystemError(error, "EADDRINUSE", "EACCES")) return error;
  const whose = netnsPath === null ? "this machine's" : "that session's";
  return new WaypointError(
    "PORT_IN_USE",
    `Port ${port} of ${whose} loopback is taken by another program.`,
    { hint: "Choose another port, or name none to get one that is free.", cause: error },
  );
}
