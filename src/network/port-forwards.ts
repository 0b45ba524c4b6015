import { createServer, type Server, Socket } from "node:net";
import { isSystemError } from "../base/index.ts";
import { WaypointError } from "../errors/index.ts";
import { openTcpSocketIn } from "../kernel/index.ts";

/** Where forwarded connections arrive: nobody outside this machine can make one. */
const HOST_LOOPBACK = "127.0.0.1";

/** A port of a session, in whatever namespace the session has at the moment. */
export interface ForwardTarget {
  port: number;
  /** Null while the session does not run. */
  netnsPath: () => string | null;
}

interface OpenForward {
  server: Server;
  connections: Set<Socket>;
}

/**
 * The ports of the host's loopback that lead into sessions.
 *
 * A connection goes on inside with a socket that was made in the session's namespace, so it
 * arrives on the session's own loopback and needs neither link nor rule. The namespace is looked
 * up for each connection: a restored session has another one.
 */
export class PortForwards {
  readonly #open = new Map<number, OpenForward>();

  /**
   * Listens on a port of the host's loopback.
   *
   * @param hostPort  0 for one that is free.
   * @returns the port.
   * @throws PORT_IN_USE
   */
  async open(hostPort: number, target: ForwardTarget): Promise<number> {
    const connections = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      track(client, connections);
      void relay(client, target, connections);
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error) => reject(explain(error, hostPort)));
      server.listen({ host: HOST_LOOPBACK, port: hostPort }, resolve);
    });
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : hostPort;
    this.#open.set(port, { server, connections });
    return port;
  }

  isOpen(hostPort: number): boolean {
    return this.#open.has(hostPort);
  }

  /** Stops listening on a port and ends its connections; idempotent. */
  close(hostPort: number): void {
    const forward = this.#open.get(hostPort);
    this.#open.delete(hostPort);
    forward?.server.close();
    for (const connection of forward?.connections ?? []) connection.destroy();
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

function explain(error: Error, hostPort: number): Error {
  if (!isSystemError(error, "EADDRINUSE", "EACCES")) return error;
  return new WaypointError(
    "PORT_IN_USE",
    `Port ${hostPort} of this machine's loopback is taken by another program.`,
    { hint: "Choose another port, or name none to get one that is free.", cause: error },
  );
}
