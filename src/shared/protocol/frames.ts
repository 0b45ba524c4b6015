import type { ApprovalInfo } from "./approval-operations.ts";

/**
 * How a client and the daemon talk over `daemon.sock`: length-prefixed frames, both ways.
 *
 * A connection carries one operation after the other: the client sends REQUEST, the daemon answers
 * with any number of stream frames and exactly one RESULT or ERROR. Then the client may send the
 * next REQUEST, unless LAST came before the result. Bytes of programs travel as they are, so that
 * binary output and back-pressure of the socket need no encoding.
 */
export const FRAME_KIND = {
  /** JSON {@link RequestMessage}, client → daemon, first. */
  request: 1,
  /** JSON output of the operation, daemon → client, ends it. */
  result: 2,
  /** JSON {@link ErrorWire}, daemon → client, ends it. */
  error: 3,
  /** JSON {@link ControlMessage}, client → daemon, during a stream operation. */
  control: 4,
  /** Bytes of standard input or keys, client → daemon; an empty frame is the end of input. */
  input: 5,
  /** Bytes, daemon → client: standard output, or what a terminal shows. */
  stdout: 6,
  /** Bytes, daemon → client: standard error. */
  stderr: 7,
  /** JSON {@link NoticeMessage}, daemon → client: something a person should know meanwhile. */
  notice: 8,
  /** Empty, daemon → client: the connection takes no request after the result that follows. */
  last: 9,
  /** JSON {@link Progress}, daemon → client: how far an operation has come. */
  progress: 10,
} as const;

export type FrameKind = (typeof FRAME_KIND)[keyof typeof FRAME_KIND];

/** First message of an operation. */
export interface RequestMessage {
  /** Version of the client's package; the daemon refuses another one than its own. */
  version: string;
  operation: string;
  input: unknown;
  /** What the client says of itself; nobody has looked whether it is so. */
  client?: ToldClient;
}

/** Through what somebody asks, and who that is, in the client's own words. */
export interface ToldClient {
  surface: string;
  sudoUser?: string;
  tty?: string;
}

/** What a client may say while an operation runs; all but `cancel` for stream operations alone. */
export type ControlMessage =
  | { control: "resize"; columns: number; rows: number }
  | { control: "signal"; signal: number }
  | { control: "detach" }
  | { control: "redraw" }
  | { control: "cancel" };

/** What the daemon may say while an operation runs. */
export interface NoticeMessage {
  notice: string;
  /** The step that it is about, where one waits for approval. */
  approval?: ApprovalInfo;
}

/** How far an operation has come. */
export interface Progress {
  done: number;
  /** `null` where it is not known. */
  total: number | null;
  unit: "bytes" | "forks" | "checkpoints";
}

/** Largest payload of a frame; larger bytes are sent as several frames. */
export const FRAME_PAYLOAD_BYTES_MAX = 16 * 1024 * 1024;

const HEADER_BYTES = 5;

/** One received frame. */
export interface Frame {
  kind: number;
  payload: Uint8Array;
}

/** Returns the bytes of a frame. */
export function encodeFrame(kind: FrameKind, payload: Uint8Array | string): Buffer {
  const body = typeof payload === "string" ? Buffer.from(payload, "utf8") : payload;
  if (body.length > FRAME_PAYLOAD_BYTES_MAX) throw new RangeError("frame payload too large");
  const frame = Buffer.allocUnsafe(HEADER_BYTES + body.length);
  frame.writeUInt32LE(body.length, 0);
  frame.writeUInt8(kind, 4);
  frame.set(body, HEADER_BYTES);
  return frame;
}

/**
 * Cuts a byte stream into frames.
 *
 * Keeps the pieces of an unfinished frame without joining them again and again, so that large
 * frames cost one copy.
 */
export class FrameDecoder {
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  /** Takes the next bytes and returns the frames that are whole now. */
  push(chunk: Uint8Array): Frame[] {
    this.#pieces.push(chunk);
    this.#bytes += chunk.length;
    const frames: Frame[] = [];
    for (;;) {
      if (this.#bytes < HEADER_BYTES) return frames;
      const length = this.#peekLength();
      if (length > FRAME_PAYLOAD_BYTES_MAX) throw new RangeError("frame payload too large");
      if (this.#bytes < HEADER_BYTES + length) return frames;
      const whole = this.#take(HEADER_BYTES + length);
      frames.push({ kind: whole[4] ?? 0, payload: whole.subarray(HEADER_BYTES) });
    }
  }

  #peekLength(): number {
    const first = this.#pieces[0];
    if (first !== undefined && first.length >= HEADER_BYTES) return readLength(first);
    const joined = Buffer.concat(this.#pieces);
    this.#pieces = [joined];
    return readLength(joined);
  }

  #take(count: number): Uint8Array {
    const first = this.#pieces[0];
    const joined =
      first !== undefined && first.length >= count ? first : Buffer.concat(this.#pieces);
    const rest = this.#pieces[0] === joined ? this.#pieces.slice(1) : [];
    if (joined.length > count) rest.unshift(joined.subarray(count));
    this.#pieces = rest;
    this.#bytes -= count;
    return joined.subarray(0, count);
  }
}

function readLength(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
}
