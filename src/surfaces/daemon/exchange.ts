import type { Socket } from "node:net";
import type { StreamClient } from "../../engine/ports/index.ts";
import { peerCredentials } from "../../linux/kernel/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import {
  type ApprovalInfo,
  type Caller,
  type ControlMessage,
  encodeFrame,
  FRAME_KIND,
  type Frame,
  type FrameKind,
  type Progress,
} from "../../shared/protocol/index.ts";
import { callerOf } from "./caller-of.ts";

/** No person reads faster. */
const PROGRESS_EVERY_MS = 100;

/** One request of a connection, from its arrival to its result: the client as an operation sees it. */
export class Exchange implements StreamClient {
  #progressAtMs = Number.NEGATIVE_INFINITY;
  readonly #gone = new AbortController();
  readonly #cancelled = new AbortController();
  readonly #socket: Socket;
  readonly #told: unknown;
  readonly #onListen: () => void;
  #handlers: Parameters<StreamClient["listen"]>[0] | undefined;

  /**
   * @param told      what the client says of itself
   * @param onListen  called when the operation wants the frames that the client has sent
   */
  constructor(socket: Socket, told: unknown, onListen: () => void) {
    this.#socket = socket;
    this.#told = told;
    this.#onListen = onListen;
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get pid(): number {
    return this.#peer()?.pid ?? 0;
  }

  get caller(): Caller {
    return callerOf(this.#peer()?.uid ?? null, this.#told);
  }

  #peer() {
    // Node shows a socket's descriptor only on its internal handle, and none when it is closed.
    const { _handle: handle } = this.#socket as unknown as { _handle?: { fd: number } | null };
    return handle && handle.fd >= 0 ? peerCredentials(handle.fd) : undefined;
  }

  get isListening(): boolean {
    return this.#handlers !== undefined;
  }

  get cancelled(): AbortSignal {
    return this.#cancelled.signal;
  }

  /** The client has left. */
  abandon(): void {
    this.#gone.abort();
    this.#cancel();
  }

  async send(stream: "stdout" | "stderr", bytes: Uint8Array): Promise<void> {
    await this.#write(FRAME_KIND[stream], bytes);
  }

  notice(text: string, approval?: ApprovalInfo): void {
    void this.#write(FRAME_KIND.notice, JSON.stringify({ notice: text, approval }));
  }

  progress(progress: Progress): void {
    const nowMs = performance.now();
    if (nowMs - this.#progressAtMs < PROGRESS_EVERY_MS) return;
    this.#progressAtMs = nowMs;
    void this.#write(FRAME_KIND.progress, JSON.stringify(progress));
  }

  listen(handlers: Parameters<StreamClient["listen"]>[0]): void {
    this.#handlers = handlers;
    this.#onListen();
  }

  /** Hands a frame over to the operation. */
  async take(frame: Frame): Promise<void> {
    if (frame.kind === FRAME_KIND.input) return await this.#handlers?.onInput(frame.payload);
    if (frame.kind !== FRAME_KIND.control) return;
    const message: unknown = JSON.parse(Buffer.from(frame.payload).toString("utf8"));
    if ((message as ControlMessage).control === "cancel") return this.#cancel();
    this.#handlers?.onControl(message as ControlMessage);
  }

  #cancel(): void {
    const message = "The operation was cancelled; what it had begun was undone.";
    this.#cancelled.abort(new WaypointError("CANCELLED", message));
  }

  /** Sends the result; `isLast` tells the client that the connection takes no further request. */
  async finish(kind: FrameKind, message: unknown, isLast: boolean): Promise<void> {
    if (isLast) void this.#write(FRAME_KIND.last, "");
    await this.#write(kind, JSON.stringify(message));
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
