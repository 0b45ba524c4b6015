import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import os from "node:os";
import path from "node:path";
import { setImmediate as nextRound } from "node:timers/promises";
import {
  encodeFrame,
  FRAME_KIND,
  type Frame,
  FrameDecoder,
  type RequestMessage,
} from "../../src/shared/protocol/index.ts";

/** One connection as a scripted daemon sees it. */
export interface ScriptedConnection {
  request: RequestMessage;
  socket: Socket;
  send(kind: keyof typeof FRAME_KIND, message: unknown): void;
  /** Resolves with the next frame after the request. */
  nextFrame(): Promise<Frame>;
}

/** A server that speaks the frames as a test says; it has no engine behind it. */
export interface ScriptedDaemon extends AsyncDisposable {
  stateDir: string;
  requests: RequestMessage[];
  /** How many there were so far. */
  connections(): number;
}

/** Rounds of the event loop of this process after which its client has sent its request. */
const ROUNDS_UNREAD = 20;

/**
 * Starts a scripted daemon on a fresh state directory; `answer` is called for each request.
 *
 * @param isRead  asked for each connection: one that is not read is reset when something came.
 */
export async function startScriptedDaemon(
  answer: (connection: ScriptedConnection) => void | Promise<void>,
  isRead: () => boolean = () => true,
): Promise<ScriptedDaemon> {
  const stateDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-scripted-"));
  const requests: RequestMessage[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    if (!isRead()) return void resetUnread(socket);
    socket.resume();
    serve(socket, requests, answer);
  });
  await new Promise<void>((resolve) => {
    server.listen(path.join(stateDir, "daemon.sock"), resolve);
  });
  return {
    stateDir,
    requests,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

async function resetUnread(socket: Socket): Promise<void> {
  for (let round = 0; round < ROUNDS_UNREAD; round += 1) await nextRound();
  socket.destroy();
}

function serve(
  socket: Socket,
  requests: RequestMessage[],
  answer: (connection: ScriptedConnection) => void | Promise<void>,
): void {
  const decoder = new FrameDecoder();
  const frames: Frame[] = [];
  const waiting: ((frame: Frame) => void)[] = [];
  const send = (kind: keyof typeof FRAME_KIND, message: unknown) => {
    const payload = message instanceof Uint8Array ? message : JSON.stringify(message);
    socket.write(encodeFrame(FRAME_KIND[kind], payload));
  };
  const nextFrame = () => {
    const frame = frames.shift();
    return frame === undefined
      ? new Promise<Frame>((resolve) => waiting.push(resolve))
      : Promise.resolve(frame);
  };
  socket.on("data", (chunk) => {
    for (const frame of decoder.push(chunk)) {
      if (frame.kind === FRAME_KIND.request) {
        const request = JSON.parse(Buffer.from(frame.payload).toString()) as RequestMessage;
        requests.push(request);
        void answer({ request, socket, send, nextFrame });
      } else {
        const resolve = waiting.shift();
        if (resolve === undefined) frames.push(frame);
        else resolve(frame);
      }
    }
  });
}
