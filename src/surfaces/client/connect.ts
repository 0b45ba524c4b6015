import type { Socket } from "node:net";
import { requireOwnStateDir, stateLayout } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Progress } from "../../shared/protocol/index.ts";
import type { Surface } from "./own-surface.ts";
import { tryConnect } from "./try-connect.ts";

/** Longest path of a unix socket on Linux, in bytes (unix(7), without the final NUL). */
const SOCKET_PATH_BYTES_MAX = 107;

/** How to reach the daemon. */
export interface ConnectOptions {
  /** Start a daemon when none answers. @defaultValue true */
  start?: boolean;
  /** Gives up waiting; the promise rejects with CANCELLED. */
  signal?: AbortSignal;
  /** Asks the daemon to undo what it has begun; its answer is waited for. */
  cancel?: AbortSignal;
  /** Through what it is asked. @defaultValue what this process is */
  surface?: Surface;
  /** Told how far the operation has come, at most ten times a second. */
  onProgress?: (progress: Progress) => void;
}

/**
 * Connects to the daemon of `stateDir`, and starts that daemon when none answers.
 *
 * @throws DAEMON_UNREACHABLE  there is none and it was not to be started, or it did not start.
 * @throws PRIVILEGE_MISSING   this user may not reach or start it.
 * @throws USAGE_INVALID       the path of the directory is too long for a socket, or another user
 *   could put something else there.
 */
export async function connectDaemon(
  stateDir: string,
  options: ConnectOptions = {},
): Promise<Socket> {
  const { socketPath } = stateLayout(stateDir);
  refuseLongPath(socketPath);
  options.signal?.throwIfAborted();
  requireOwnStateDir(stateDir);
  const running = await tryConnect(socketPath);
  if (running !== null) return running;
  if (options.start === false) throw noDaemon(stateDir);
  refuseOtherThanRoot();
  const { startDaemon } = await import("./start-daemon.ts");
  return await startDaemon(stateDir, options.signal);
}

function noDaemon(stateDir: string): WaypointError {
  return new WaypointError("DAEMON_UNREACHABLE", `No Waypoint daemon runs for ${stateDir}.`, {
    hint: "Any other command starts it, for example `waypoint ls`.",
    detail: { stateDir },
  });
}

function refuseLongPath(socketPath: string): void {
  if (Buffer.byteLength(socketPath) <= SOCKET_PATH_BYTES_MAX) return;
  throw new WaypointError("USAGE_INVALID", `The socket path ${socketPath} is too long for Linux.`, {
    hint: `Choose a state directory whose socket path has at most ${SOCKET_PATH_BYTES_MAX} bytes.`,
    detail: { socketPath },
  });
}

function refuseOtherThanRoot(): void {
  if (process.geteuid?.() === 0) return;
  throw new WaypointError("PRIVILEGE_MISSING", "Starting the Waypoint daemon needs root.", {
    hint: "Run the command as root, for example with sudo.",
  });
}
