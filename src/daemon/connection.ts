import type { Socket } from "node:net";
import { toWaypointError, WaypointError } from "../errors/index.ts";
import { peerPid } from "../kernel/index.ts";
import {
  type ControlMessage,
  encodeFrame,
  FRAME_KIND,
  type Frame,
  FrameDecoder,
  type FrameKind,
  type RequestMessage,
} from "../protocol/index.ts";
import type { StreamPeer } from "../session/index.ts";

const REQUEST_TIMEOUT_MS = 10_000;

/** Answers one request; what it returns is sent as the result. */
export type Answer = (request: RequestMessage, peer: StreamPeer) => Promise<unknown>;

/**
 * Serves one connection: one request, its stream frames, one result or error.
 *
 * Never rejects; a client that leaves or talks nonsense only ends its own connection.
 */
export async function serveConnection(socket: Socket, answer: Answer): Promise<void> {
  const gone = new AbortController();
  socket.on("close", () => gone.abort());
  // A client that breaks off is an everyday event; "close" follows.
  socket.on("error", () => {});
  const connection = new Connection(socket, gone.signal);
  try {
    const request = await connection.readRequest();
    const result = await answer(request, connection);
    await connection.finish(FRAME_KIND.result, result);
  } catch (error) {
    await connection.finish(FRAME_KIND.error, toWaypointError(error).toJSON());
  }
}

class Connection implements StreamPeer {
  readonly gone: AbortSignal;
  readonly #socket: Socket;
  readonly #decoder = new FrameDecoder();
  readonly #waiting: Frame[] = [];
  readonly #request = Promise.withResolvers<RequestMessage>();
  #handlers: Parameters<StreamPeer["listen"]>[0] | undefined;
  #isPumping = false;

  constructor(socket: Socket, gone: AbortSignal) {
    this.#socket = socket;
    this.gone = gone;
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    gone.addEventListener("abort", () =>
      this.#request.reject(new WaypointError("CANCELLED", "The client left.")),
    );
  }

  async readRequest(): Promise<RequestMessage> {
    const timer = setTimeout(() => {
      this.#request.reject(new WaypointError("USAGE_INVALID", "No request came in time."));
    }, REQUEST_TIMEOUT_MS);
    try {
      return await this.#request.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  get pid(): number {
    // Node shows a socket's descriptor only on its internal handle.
    const { _handle: handle } = this.#socket as unknown as { _handle?: { fd: number } };
    return handle === undefined ? 0 : peerPid(handle.fd);
  }

  async send(stream: "stdout" | "stderr", bytes: Uint8Array): Promise<void> {
    await this.#write(FRAME_KIND[stream], bytes);
  }

  notice(text: string): void {
    void this.#write(FRAME_KIND.notice, JSON.stringify({ notice: text }));
  }

  listen(handlers: Parameters<StreamPeer["listen"]>[0]): void {
    this.#handlers = handlers;
    void this.#pump();
  }

  async finish(kind: FrameKind, message: unknown): Promise<void> {
    await this.#write(kind, JSON.stringify(message));
    this.#socket.end();
  }

  #take(chunk: Buffer): void {
    try {
      this.#waiting.push(...this.#decoder.push(chunk));
    } catch {
      this.#socket.destroy();
      return;
    }
    void this.#pump();
  }

  /** Hands frames over one after the other; the socket is paused meanwhile. */
  async #pump(): Promise<void> {
    if (this.#isPumping) return;
    this.#isPumping = true;
    this.#socket.pause();
    try {
      while (this.#waiting.length > 0) {
        const isForLater = this.#waiting[0]?.kind !== FRAME_KIND.request && !this.#handlers;
        if (isForLater) break;
        await this.#handle(this.#waiting.shift() as Frame);
      }
    } catch {
      this.#socket.destroy();
    } finally {
      this.#isPumping = false;
      this.#socket.resume();
    }
  }

  async #handle(frame: Frame): Promise<void> {
    if (frame.kind === FRAME_KIND.input) return await this.#handlers?.onInput(frame.payload);
    const message: unknown = JSON.parse(Buffer.from(frame.payload).toString("utf8"));
    if (frame.kind === FRAME_KIND.request) this.#request.resolve(message as RequestMessage);
    if (frame.kind === FRAME_KIND.control) this.#handlers?.onControl(message as ControlMessage);
  }

  #write(kind: FrameKind, payload: Uint8Array | string): Promise<void> {
    if (this.gone.aborted) return Promise.resolve();
    if (this.#socket.write(encodeFrame(kind, payload))) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#socket.off("drain", done);
        this.gone.removeEventListener("abort", done);
        resolve();
      };
      this.#socket.once("drain", done);
      this.gone.addEventListener("abort", done, { once: true });
    });
  }
}
