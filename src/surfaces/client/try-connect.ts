import { createConnection, type Socket } from "node:net";
import { isSystemError } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";

/**
 * Returns a connected socket, or `null` when no daemon listens there.
 *
 * A socket file on which nobody listens is what a daemon leaves that died, so it counts as none.
 */
export function tryConnect(socketPath: string): Promise<Socket | null> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(socketPath);
    const onError = (cause: Error) => {
      if (isSystemError(cause, "ENOENT", "ECONNREFUSED", "ENOTDIR")) return resolve(null);
      reject(connectFailure(socketPath, cause));
    };
    socket.once("error", onError);
    socket.once("connect", () => {
      socket.off("error", onError);
      resolve(socket);
    });
  });
}

function connectFailure(socketPath: string, cause: Error): WaypointError {
  if (isSystemError(cause, "EACCES", "EPERM")) {
    return new WaypointError(
      "PRIVILEGE_MISSING",
      `This user may not use the Waypoint daemon at ${socketPath}.`,
      { hint: "Run the command as root.", detail: { socketPath }, cause },
    );
  }
  return new WaypointError(
    "DAEMON_UNREACHABLE",
    `The Waypoint daemon at ${socketPath} cannot be reached (${cause.message}).`,
    { hint: "Read daemon.log in the state directory.", detail: { socketPath }, cause },
  );
}
