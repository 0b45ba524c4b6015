import type { Channel } from "./channel.ts";
import { Feed } from "./feed.ts";
import { encodeOffsets, type Frame, FrameKind } from "./frames.ts";
import { type EndReason, endReason } from "./init-state.ts";

/** Bytes of a terminal; a jump of `offset` means that the reader was too slow and lost some. */
export interface TerminalChunk {
  offset: bigint;
  bytes: Buffer;
}

/** Bytes of a command; nothing is ever lost. */
export interface CommandChunk {
  stream: "stdout" | "stderr";
  bytes: Buffer;
}

/** How a program or command ended. */
export interface ProgramResult {
  /** 128 + n after signal n. */
  exitCode: number;
  /** Number of the signal, 0 without one. */
  signal: number;
  reason: EndReason;
}

/** What a reader needs of the link it belongs to. */
export interface ReaderHost {
  openChannel(onFrame: (frame: Frame) => void): Promise<Channel>;
  readerClosed(reader: Reader): void;
  /** The reader got the exit of a command, which init may forget now. */
  commandRead(id: number): void;
}

/** The common part of readers: follows one object over any number of connections. */
export class Reader {
  readonly id: number;
  /** Settles when the end was received; rejects when the session ended before. */
  readonly result: Promise<ProgramResult>;
  protected readonly feed: Feed;
  readonly #host: ReaderHost;
  readonly #offsets: [bigint, bigint];
  #channel: Channel | undefined;
  #settle!: { resolve: (result: ProgramResult) => void; reject: (error: Error) => void };

  constructor(host: ReaderHost, id: number, offset: bigint) {
    this.#host = host;
    this.id = id;
    this.#offsets = [offset, 0n];
    this.feed = new Feed(() => this.#channel?.setFlowing(true));
    this.result = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.result.catch(() => {}); // iterating reports it as well
  }

  /** Offset after the last byte received from init (the first stream's, for a command). */
  get receivedOffset(): bigint {
    return this.#offsets[0];
  }

  /** Connects and reads on where the last connection stopped. */
  async attach(): Promise<void> {
    if (this.feed.isOver) return;
    // After a dump that was given up: what init still sends there comes first.
    if (this.#channel !== undefined && !this.#channel.isEnding) return;
    await this.#channel?.closed;
    try {
      const channel = await this.#host.openChannel((frame) => this.#take(frame));
      this.#channel = channel;
      void channel.closed.then(() => {
        if (this.#channel === channel) this.#channel = undefined;
      });
      await channel.request(FrameKind.read, this.id, encodeOffsets(...this.#offsets));
      if (this.feed.isOver) channel.destroy();
    } catch (error) {
      this.fail(error as Error);
    }
  }

  /** Ends the connection before a dump; what init had sent is kept for the consumer. */
  async detach(): Promise<void> {
    await this.#channel?.halfClose();
  }

  fail(error: Error): void {
    this.feed.fail(error);
    this.#settle.reject(error);
    this.#channel?.destroy();
  }

  /** Stops reading; the program goes on. */
  close(): void {
    this.feed.end();
    this.#channel?.destroy();
    this.#host.readerClosed(this);
  }

  #take(frame: Frame): void {
    if (this.feed.isOver) return;
    if (frame.kind === FrameKind.exit) {
      this.feed.end();
      this.#settle.resolve(decodeExit(frame));
      void this.#channel?.halfClose();
      this.#host.readerClosed(this);
      if (this instanceof CommandReader) this.#host.commandRead(this.id);
      return;
    }
    const offset = frame.payload.readBigUInt64LE(0);
    this.#offsets[frame.kind === FrameKind.stderr ? 1 : 0] =
      offset + BigInt(frame.payload.length - 8);
    this.feed.push(frame);
    if (this.feed.isFull) this.#channel?.setFlowing(false);
  }
}

/** Follows a terminal's output until its program ends. */
export class TerminalReader extends Reader implements AsyncIterable<TerminalChunk> {
  async *[Symbol.asyncIterator](): AsyncGenerator<TerminalChunk, void> {
    for (let frame = await this.feed.next(); frame !== undefined; frame = await this.feed.next()) {
      yield { offset: frame.payload.readBigUInt64LE(0), bytes: frame.payload.subarray(8) };
    }
  }
}

/** Follows a command's output; while the consumer does not take it, the command waits. */
export class CommandReader extends Reader implements AsyncIterable<CommandChunk> {
  async *[Symbol.asyncIterator](): AsyncGenerator<CommandChunk, void> {
    for (let frame = await this.feed.next(); frame !== undefined; frame = await this.feed.next()) {
      const stream = frame.kind === FrameKind.stdout ? "stdout" : "stderr";
      yield { stream, bytes: frame.payload.subarray(8) };
    }
  }
}

function decodeExit(frame: Frame): ProgramResult {
  return {
    exitCode: frame.payload.readInt32LE(0),
    signal: frame.payload.readUInt32LE(4),
    reason: endReason(frame.payload.readUInt32LE(8)),
  };
}
