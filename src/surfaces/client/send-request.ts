import type { Socket } from "node:net";
import { stateLayout } from "../../base/index.ts";
import { encodeFrame, FRAME_KIND, type RequestMessage } from "../../shared/protocol/index.ts";
import { type ConnectOptions, connectDaemon } from "./connect.ts";
import { takeKept } from "./kept-connections.ts";

/** A connection on which a request was sent. */
export interface SentRequest {
  socket: Socket;
  socketPath: string;
}

/**
 * Sends a request to the daemon of `stateDir`: on a connection that an earlier operation has left,
 * or on a new one.
 *
 * @throws as {@link connectDaemon}
 */
export async function sendRequest(
  stateDir: string,
  request: RequestMessage,
  options: ConnectOptions,
): Promise<SentRequest> {
  const { socketPath } = stateLayout(stateDir);
  const frame = encodeFrame(FRAME_KIND.request, JSON.stringify(request));
  options.signal?.throwIfAborted();
  for (let kept = takeKept(socketPath); kept !== undefined; kept = takeKept(socketPath)) {
    if (await isTaken(kept, frame)) return { socket: kept, socketPath };
  }
  const socket = await connectDaemon(stateDir, options);
  write(socket, frame);
  return { socket, socketPath };
}

/**
 * Sends a request once more, on a new connection.
 *
 * @param claim  is given the connection before anything is sent; where it throws, nothing is.
 * @throws as {@link connectDaemon}, and what `claim` throws
 */
export async function sendAgain(
  stateDir: string,
  request: RequestMessage,
  options: ConnectOptions,
  claim: (socket: Socket) => void,
): Promise<void> {
  const socket = await connectDaemon(stateDir, options);
  try {
    claim(socket);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  write(socket, encodeFrame(FRAME_KIND.request, JSON.stringify(request)));
}

function write(socket: Socket, frame: Buffer): void {
  // A write to a daemon that has just died; the reading side reports the loss.
  socket.on("error", () => {});
  socket.write(frame);
}

/** Whether the other end was still there; where it was not, it has not seen the request. */
function isTaken(kept: Socket, frame: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    kept.write(frame, (error) => resolve(error === null || error === undefined));
  });
}
