import type { Socket } from "node:net";
import { type Deferred, deferred, isSystemError } from "../../base/index.ts";
import { type ErrorWire, WaypointError } from "../../shared/errors/index.ts";
import {
  type ApprovalInfo,
  type ControlMessage,
  encodeFrame,
  FRAME_KIND,
  FRAME_PAYLOAD_BYTES_MAX,
  type Frame,
  FrameDecoder,
  type NoticeMessage,
  type OperationInput,
  type OperationName,
  type OperationOutput,
  type Progress,
  WAYPOINT_VERSION,
} from "../../shared/protocol/index.ts";
import { cancelled, withAbortCause } from "./cancelled.ts";
import type { ConnectOptions } from "./connect.ts";
import { drained } from "./drained.ts";
import { keepConnection } from "./kept-connections.ts";
import { toldClient } from "./own-surface.ts";
import { type SentRequest, sendAgain, sendRequest } from "./send-request.ts";

/** Something that arrives while an operation runs. */
export type StreamEvent =
  | { kind: "stdout" | "stderr"; bytes: Uint8Array }
  | { kind: "notice"; notice: string; approval?: ApprovalInfo };

/**
 * One running operation: events come out, input and control messages go in, a result ends it.
 *
 * Iterating drives it: nothing is read from the daemon before the last event was taken, so a slow
 * reader slows the program down and needs no memory. The iteration ends with the result and throws
 * the operation's error; {@link result} settles with it. Iterate once.
 */
export interface OperationStream<Output> extends AsyncIterable<StreamEvent>, Disposable {
  /** Settles when the iteration ends. */
  readonly result: Promise<Output>;
  /** Sends input; resolves when the daemon takes more. */
  write(bytes: Uint8Array): Promise<void>;
  /** Says that no more input comes. */
  endInput(): void;
  /** Sends a resize, a signal or the wish to detach. */
  control(message: ControlMessage): void;
  /** Leaves without waiting for the result; so does the end of a block with `using`. */
  close(): void;
}

/**
 * Starts an operation on the daemon of `stateDir`.
 *
 * @throws DAEMON_UNREACHABLE  see {@link connectDaemon}; while iterating: the connection was lost.
 * @throws CANCELLED           `signal` was aborted.
 */
export async function openStream<N extends OperationName>(
  stateDir: string,
  operation: N,
  input: OperationInput<N>,
  options: ConnectOptions = {},
): Promise<OperationStream<OperationOutput<N>>> {
  const client = toldClient(options.surface);
  const request = { version: WAYPOINT_VERSION, operation, input, client };
  const { signal, cancel } = options;
  const stop = AbortSignal.any([signal, cancel].filter((each) => each !== undefined));
  const connecting = { ...options, signal: stop };
  const fail = (error: unknown): never => {
    throw stop.aborted ? cancelled(operation, stop) : error;
  };
  const connection = await sendRequest(stateDir, request, connecting).catch(fail);
  const resend: Resend = (claim) => sendAgain(stateDir, request, connecting, claim).catch(fail);
  const stream = new SocketStream<OperationOutput<N>>(connection, {
    ...options,
    operation,
    resend,
  });
  const onCancel = () => stream.control({ control: "cancel" });
  cancel?.addEventListener("abort", onCancel, { once: true });
  // It may have been aborted while the request was being sent.
  if (cancel?.aborted) onCancel();
  const forget = () => cancel?.removeEventListener("abort", onCancel);
  stream.result.then(forget, forget);
  return stream;
}

type Resend = (claim: (socket: Socket) => void) => Promise<void>;

/** What a stream is of, and how its request is sent once more. */
interface StreamOptions extends Pick<ConnectOptions, "signal" | "cancel" | "onProgress"> {
  operation: string;
  resend: Resend;
}

class SocketStream<Output> implements OperationStream<Output> {
  readonly result: Promise<Output>;
  #socket: Socket;
  readonly #socketPath: string;
  readonly #operation: string;
  readonly #resend: Resend;
  readonly #signal: AbortSignal | undefined;
  readonly #cancel: AbortSignal | undefined;
  readonly #onProgress: ((progress: Progress) => void) | undefined;
  readonly #onAbort = () => this.#socket.destroy();
  readonly #settle: Deferred<Output>;
  #isClosed = false;
  #hasAnswer = false;
  #isLast = false;
  /** Nothing but the request has passed, which no daemon has read whole where the connection breaks then. */
  #isUntouched = true;
  #isSentAgain = false;

  constructor(
    { socket, socketPath }: SentRequest,
    { operation, resend, signal, cancel, onProgress }: StreamOptions,
  ) {
    this.#settle = deferred<Output>();
    this.result = this.#settle.promise;
    this.#socket = socket;
    this.#socketPath = socketPath;
    this.#operation = operation;
    this.#resend = resend;
    this.#signal = signal;
    this.#cancel = cancel;
    this.#onProgress = onProgress;
    // The iteration throws the same error; a caller who reads only that must not crash here.
    this.result.catch(() => {});
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (signal?.aborted) this.#onAbort();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamEvent, void> {
    try {
      const output = yield* this.#events();
      this.#settle.resolve(output);
    } catch (error) {
      this.#settle.reject(error);
      throw error;
    } finally {
      this.#settle.reject(lost(this.#operation));
      this.#signal?.removeEventListener("abort", this.#onAbort);
      this.close();
    }
  }

  async *#events(): AsyncGenerator<StreamEvent, Output> {
    const decoder = new FrameDecoder();
    for await (const chunk of this.#chunks()) {
      for (const frame of decoder.push(chunk)) {
        if (frame.kind === FRAME_KIND.last) this.#isLast = true;
        this.#hasAnswer = frame.kind === FRAME_KIND.result || frame.kind === FRAME_KIND.error;
        if (frame.kind === FRAME_KIND.result) return parsePayload<Output>(frame);
        if (frame.kind === FRAME_KIND.error) {
          const error = WaypointError.fromJSON(parsePayload<ErrorWire>(frame));
          throw withAbortCause(error, this.#cancel);
        }
        if (frame.kind === FRAME_KIND.progress) this.#onProgress?.(parsePayload<Progress>(frame));
        const event = toEvent(frame);
        if (event !== null) yield event;
      }
    }
    throw lost(this.#operation);
  }

  async *#chunks(): AsyncGenerator<Uint8Array> {
    try {
      const chunks = this.#socket.iterator({ destroyOnReturn: false });
      for await (const chunk of chunks) {
        this.#isUntouched = false;
        yield chunk as Uint8Array;
      }
    } catch (cause) {
      if (this.#signal?.aborted) throw cancelled(this.#operation, this.#signal);
      const isUnread = isSystemError(cause, "ECONNRESET", "EPIPE");
      if (!isUnread || this.#isSentAgain || !this.#isAsSent) throw lost(this.#operation, cause);
      this.#isSentAgain = true;
      await this.#resend((socket) => this.#claim(socket, cause));
      yield* this.#chunks();
    }
    if (this.#signal?.aborted) throw cancelled(this.#operation, this.#signal);
  }

  /**
   * Takes a new connection for the request, which goes out in the same step: whoever has left, or has sent
   * something that is lost, must not have it carried out.
   *
   * A program that a daemon was just starting when it was killed has its socket for a moment: it takes
   * connections, and nobody reads them.
   */
  #claim(socket: Socket, cause: unknown): void {
    if (!this.#isAsSent) throw lost(this.#operation, cause);
    this.#socket = socket;
  }

  get #isAsSent(): boolean {
    return this.#isUntouched && !this.#isClosed && this.#signal?.aborted !== true;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#isUntouched = false;
    for (let offset = 0; offset < bytes.length; offset += FRAME_PAYLOAD_BYTES_MAX) {
      const piece = bytes.subarray(offset, offset + FRAME_PAYLOAD_BYTES_MAX);
      await this.#send(encodeFrame(FRAME_KIND.input, piece));
    }
  }

  endInput(): void {
    this.#isUntouched = false;
    if (this.#isWritable) this.#socket.write(encodeFrame(FRAME_KIND.input, ""));
  }

  control(message: ControlMessage): void {
    this.#isUntouched = false;
    if (!this.#isWritable) return;
    this.#socket.write(encodeFrame(FRAME_KIND.control, JSON.stringify(message)));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // The next operation may use it; before the answer, its end is how the daemon knows we left.
    if (this.#hasAnswer && !this.#isLast) keepConnection(this.#socketPath, this.#socket);
    else this.#socket.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** After the answer the connection may belong to another operation. */
  get #isWritable(): boolean {
    return this.#socket.writable && !this.#hasAnswer && !this.#isClosed;
  }

  async #send(frame: Buffer): Promise<void> {
    if (!this.#isWritable || this.#socket.write(frame)) return;
    await drained(this.#socket);
  }
}

function parsePayload<T>(frame: Frame): T {
  return JSON.parse(Buffer.from(frame.payload).toString("utf8")) as T;
}

function toEvent(frame: Frame): StreamEvent | null {
  switch (frame.kind) {
    case FRAME_KIND.stdout:
      return { kind: "stdout", bytes: frame.payload };
    case FRAME_KIND.stderr:
      return { kind: "stderr", bytes: frame.payload };
    case FRAME_KIND.notice:
      return { kind: "notice", ...parsePayload<NoticeMessage>(frame) };
    default:
      // Versions agree, so this is a frame that says nothing to clients.
      return null;
  }
}

function lost(operation: string, cause?: unknown): WaypointError {
  return new WaypointError(
    "DAEMON_UNREACHABLE",
    `The connection to the Waypoint daemon was lost during ${operation}.`,
    {
      hint: "The sessions live on; repeat the command, which starts the daemon again.",
      detail: { operation },
      cause,
    },
  );
}
