import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { constants } from "node:os";
import { WaypointError } from "../../shared/errors/index.ts";
import { peerCredentials } from "../kernel/index.ts";
import {
  encodeFrame,
  encodeNumbers,
  type Frame,
  FrameDecoder,
  FrameKind,
  PROTOCOL_VERSION,
} from "./frames.ts";

/** Where init listens, and its process id on the host. */
export interface InitAddress {
  socketPath: string;
  /** Not checked when left out. */
  initPid?: number;
}

/** What a channel does with frames that answer no request. */
export interface ChannelEvents {
  onFrame?: (frame: Frame) => void;
  /** Called once; `isOrderly` when the channel was half-closed by us before. */
  onClose?: (isOrderly: boolean) => void;
}

type Settle = { resolve: (frame: Frame | undefined) => void; reject: (error: Error) => void };

/**
 * One connection to init.
 *
 * Requests are answered in their order. A request that init had not handled when the channel was
 * half-closed resolves to `undefined`: it had no effect and may be sent again elsewhere.
 */
export class Channel {
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #decoder = new FrameDecoder();
  readonly #waiting: Settle[] = [];
  readonly #events: ChannelEvents;
  #isOrderly = false;
  #isClosed = false;

  /**
   * Connects and exchanges HELLO.
   *
   * A session's root can put a link to another session's socket in the place of its own. So it is
   * checked that the one who listens is the process that the caller means.
   *
   * @throws TOOL_FAILED  nobody answers, another process does, or it has another version.
   */
  static async open(
    { socketPath, initPid }: InitAddress,
    events: ChannelEvents,
    timeoutMs: number,
  ): Promise<Channel> {
    const socket = connect({ path: socketPath, allowHalfOpen: true });
    const channel = new Channel(socket, events);
    const timer = setTimeout(() => socket.destroy(new Error("no answer")), timeoutMs);
    try {
      await once(socket, "connect");
      if (initPid !== undefined && peerCredentials(descriptorOf(socket)).pid !== initPid)
        throw closedError();
      const hello = await channel.request(FrameKind.hello, 0, encodeNumbers(PROTOCOL_VERSION));
      if (hello?.kind !== FrameKind.hello) throw closedError();
      return channel;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  private constructor(socket: Socket, events: ChannelEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on("data", (bytes) => this.#receive(bytes));
    socket.on("error", () => {}); // "close" follows and tells all there is to know
    socket.on("end", () => socket.end());
    this.closed = new Promise((resolve) => {
      socket.once("close", () => {
        this.#finish();
        resolve();
      });
    });
  }

  /** Sends a request; `undefined` when it was certainly not handled. @throws TOOL_FAILED  init refused it. */
  request(kind: number, id: number, payload?: Uint8Array): Promise<Frame | undefined> {
    if (this.#isOrderly) return Promise.resolve(undefined);
    if (this.#isClosed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#socket.write(encodeFrame(kind, id, payload));
    });
  }

  /** Stops or resumes taking frames; what was taken already is still delivered. */
  setFlowing(isFlowing: boolean): void {
    if (isFlowing || this.#isOrderly) this.#socket.resume();
    else this.#socket.pause();
  }

  /** Says that nothing more will be sent; resolves when init closed its side after its last frame. */
  async halfClose(): Promise<void> {
    this.#isOrderly = true;
    this.#socket.resume();
    this.#socket.end();
    await this.closed;
  }

  /** Whether nothing more will be sent on it. */
  get isEnding(): boolean {
    return this.#isOrderly;
  }

  /** Drops the connection at once. */
  destroy(): void {
    this.#isOrderly = true;
    this.#socket.destroy();
  }

  #receive(bytes: Buffer): void {
    let frames: Frame[];
    try {
      frames = this.#decoder.push(bytes);
    } catch {
      this.#socket.destroy();
      return;
    }
    for (const frame of frames) this.#dispatch(frame);
  }

  #dispatch(frame: Frame): void {
    const isAnswer = frame.kind === FrameKind.hello || frame.kind === FrameKind.reply;
    if (isAnswer) this.#waiting.shift()?.resolve(frame);
    else if (frame.kind === FrameKind.error) this.#waiting.shift()?.reject(refusal(frame));
    else this.#events.onFrame?.(frame);
  }

  #finish(): void {
    this.#isClosed = true;
    for (const waiting of this.#waiting.splice(0)) {
      if (this.#isOrderly) waiting.resolve(undefined);
      else waiting.reject(closedError());
    }
    this.#events.onClose?.(this.#isOrderly);
  }
}

function refusal(frame: Frame): WaypointError {
  const text = frame.payload.subarray(4).toString("utf8");
  const errno = frame.payload.readUInt32LE(0);
  const detail = { errno, id: frame.id };
  if (errno === constants.errno.ENOSPC || errno === constants.errno.EDQUOT) {
    return new WaypointError("STORE_FULL", "The session's filesystem has no room left.", {
      hint:
        "Remove files with `waypoint exec NAME --shell own -- rm …`, which needs no room, or a " +
        "checkpoint that has removed ones (`waypoint rm CHECKPOINT`).",
      detail,
    });
  }
  return new WaypointError("TOOL_FAILED", `The session's init refused the request: ${text}.`, {
    detail,
  });
}

function closedError(): WaypointError {
  return new WaypointError("TOOL_FAILED", "The session's init does not answer.");
}

/** Node shows a socket's descriptor only on its internal handle. */
function descriptorOf(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { _handle?: { fd: number } };
  return handle?.fd ?? -1;
}
