/**
 * The wire format between the daemon and a session's first process.
 *
 * @see docs/init-protocol.md
 */

export const PROTOCOL_VERSION = 1;

/** Bytes of a frame before its payload. */
export const FRAME_HEADER_BYTES = 12;

/** A larger payload is a violation of the protocol. */
export const PAYLOAD_BYTES_MAX = 64 * 1024;

export const FrameKind = {
  hello: 1,
  list: 2,
  openTerminal: 3,
  respawn: 4,
  spawn: 5,
  shellCommand: 6,
  shellAppend: 7,
  read: 8,
  write: 9,
  closeInput: 10,
  resize: 11,
  signal: 12,
  discard: 13,
  close: 14,
  reply: 64,
  error: 65,
  output: 66,
  stdout: 67,
  stderr: 68,
  exit: 69,
} as const;

/** One message; `id` names the terminal or command it is about. */
export interface Frame {
  kind: number;
  id: number;
  payload: Buffer;
}

/** Returns the bytes of one frame. */
export function encodeFrame(
  kind: number,
  id: number,
  payload: Uint8Array = new Uint8Array(),
): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  bytes.writeUInt32LE(payload.length, 0);
  bytes.writeUInt16LE(kind, 4);
  bytes.writeUInt16LE(0, 6);
  bytes.writeUInt32LE(id, 8);
  bytes.set(payload, FRAME_HEADER_BYTES);
  return bytes;
}

/** Returns 32-bit numbers one after another. */
export function encodeNumbers(...values: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value >>> 0, 4 * index);
  return bytes;
}

/** Returns 64-bit offsets one after another. */
export function encodeOffsets(...values: bigint[]): Buffer {
  const bytes = Buffer.allocUnsafe(8 * values.length);
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(value, 8 * index);
  return bytes;
}

/** Cuts a byte stream into frames, however it arrives. */
export class FrameDecoder {
  #chunks: Buffer[] = [];
  #heldBytes = 0;

  /** Takes bytes and returns the frames that are complete now. @throws RangeError  a frame is too large. */
  push(bytes: Buffer): Frame[] {
    this.#chunks.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes < FRAME_HEADER_BYTES) return [];
    const held = this.#chunks.length === 1 ? bytes : Buffer.concat(this.#chunks);
    const frames: Frame[] = [];
    let at = 0;
    while (held.length - at >= FRAME_HEADER_BYTES) {
      const payloadBytes = held.readUInt32LE(at);
      if (payloadBytes > PAYLOAD_BYTES_MAX) throw new RangeError(`frame of ${payloadBytes} bytes`);
      const end = at + FRAME_HEADER_BYTES + payloadBytes;
      if (end > held.length) break;
      frames.push({
        kind: held.readUInt16LE(at + 4),
        id: held.readUInt32LE(at + 8),
        payload: held.subarray(at + FRAME_HEADER_BYTES, end),
      });
      at = end;
    }
    this.#chunks = at === held.length ? [] : [held.subarray(at)];
    this.#heldBytes = held.length - at;
    return frames;
  }
}
