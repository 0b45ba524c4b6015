import type { Socket } from "node:net";
import type { StreamClient } from "../../engine/ports/index.ts";
import { toWaypointError, WaypointError } from "../../shared/errors/index.ts";
import {
  encodeFrame,
  FRAME_KIND,
  type Frame,
  FrameDecoder,
  type RequestMessage,
} from "../../shared/protocol/index.ts";
import { Exchange } from "./exchange.ts";

const FIRST_REQUEST_TIMEOUT_MS = 10_000;

/** Answers one request; what it returns is sent as the result. */
export type Answer = (request: RequestMessage, client: StreamClient) => Promise<unknown>;

/**
 * One client's connection: requests one after the other, each with its stream frames and its one
 * result or error.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #decoder = new FrameDecoder();
  readonly #waiting: Frame[] = [];
  #exchange: Exchange | undefined;
  #onRequest: ((request: RequestMessage | undefined) => void) | undefined;
  #isPumping = false;
  #isLast = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    // A client that breaks off is an everyday event; "close" follows.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#exchange?.abandon();
      this.#onRequest?.(undefined);
    });
  }

  /**
   * Answers requests until the client leaves or {@link endWhenIdle} was called.
   *
   * Never rejects; a client that leaves or talks nonsense only ends its own connection.
   */
  async serve(answer: Answer): Promise<void> {
    const refuse = () => this.#refuse("No request came in time.");
    const timer = setTimeout(refuse, FIRST_REQUEST_TIMEOUT_MS);
    try {
      for (;;) {
        const request = await this.#nextRequest();
        clearTimeout(timer);
        if (request === undefined) return;
        await this.#answer(request, this.#exchange as Exchange, answer);
        if (this.#isLast) return;
      }
    } finally {
      clearTimeout(timer);
      this.#socket.destroySoon();
    }
  }

  /** Takes no further request: ends now, or after the answer that is under way. */
  endWhenIdle(): void {
    this.#isLast = true;
    if (this.#exchange === undefined) this.#socket.destroySoon();
  }

  async #answer(request: RequestMessage, exchange: Exchange, answer: Answer): Promise<void> {
    try {
      const result = await answer(request, exchange);
      await exchange.finish(FRAME_KIND.result, result, this.#isLast);
    } catch (error) {
      await exchange.finish(FRAME_KIND.error, toWaypointError(error).toJSON(), this.#isLast);
    }
    this.#exchange = undefined;
  }

  /** Resolves with the next request, or `undefined` when none comes any more. */
  #nextRequest(): Promise<RequestMessage | undefined> {
    if (this.#socket.destroyed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#onRequest = (request) => {
        this.#onRequest = undefined;
        resolve(request);
      };
      void this.#pump();
    });
  }

  #refuse(message: string): void {
    const error = new WaypointError("USAGE_INVALID", message);
    this.#socket.write(encodeFrame(FRAME_KIND.error, JSON.stringify(error.toJSON())));
    this.#socket.destroySoon();
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
      while (this.#waiting.length > 0 && this.#isWanted(this.#waiting[0] as Frame)) {
        await this.#handle(this.#waiting.shift() as Frame);
      }
    } catch {
      this.#socket.destroy();
    } finally {
      this.#isPumping = false;
      this.#socket.resume();
    }
  }

  #isWanted(frame: Frame): boolean {
    if (frame.kind === FRAME_KIND.request) return this.#onRequest !== undefined;
    return this.#exchange === undefined || this.#exchange.isListening || isCancel(frame);
  }

  async #handle(frame: Frame): Promise<void> {
    if (frame.kind !== FRAME_KIND.request) {
      // Without an exchange it was meant for a command that has ended meanwhile.
      await this.#exchange?.take(frame);
      return;
    }
    const request = JSON.parse(Buffer.from(frame.payload).toString("utf8")) as RequestMessage;
    // At once, so that the frames behind it are known to be its own.
    this.#exchange = new Exchange(this.#socket, request.client, () => void this.#pump());
    this.#onRequest?.(request);
  }
}

/** Every operation takes this one, at any time. */
function isCancel({ kind, payload }: Frame): boolean {
  return kind === FRAME_KIND.control && Buffer.from(payload).includes('"cancel"');
}
