import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { findStandstill, unresponsive } from "../../base/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import { awaitInit } from "./await-init.ts";
import { Channel, type ChannelEvents, type InitAddress } from "./channel.ts";
import { encodeNumbers, type Frame, FrameKind } from "./frames.ts";

export const CONNECT_TIMEOUT_MS = 10_000;
const CONNECT_RETRY_MS = 5;
/** How long to wait before an init that did not answer is called again. */
const RECONNECT_INTERVAL_MS = 250;

/** How a request is sent. */
export interface CallOptions {
  payload?: Uint8Array | undefined;
  /** Connection for it; requests on one are answered in their order. @defaultValue the control one */
  key?: string | undefined;
  /** Waits for the answer however long it takes. @defaultValue false */
  isPatient?: boolean | undefined;
  /** The request is not sent any more when this is aborted. */
  signal?: AbortSignal | undefined;
  /** Takes the answer that comes when the caller has been told that none does. */
  onLate?: ((answer: Frame) => void) | undefined;
}

/** The connection whose loss means that init is gone. */
const CONTROL = "control";
/** Asks for terminals (1) after the last possible one. */
const PING = encodeNumbers(1, 0xffffffff);

/**
 * All connections of a link, and the gate that closes them for a dump.
 *
 * While the gate is closed no connection exists and calls wait. A call that was sent but not
 * handled before is sent again, exactly once.
 */
export class Connections {
  readonly #address: InitAddress;
  readonly #onLost: (reason: Error) => void;
  readonly #channels = new Map<string, Promise<Channel>>();
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #opening = new Set<Promise<unknown>>();
  #gate: { opened: Promise<void>; open: () => void } | undefined;
  #failure: Error | undefined;
  #requestCount = 0;

  /** `onLost` is called when init ended the control connection by itself. */
  constructor(address: InitAddress, onLost: (reason: Error) => void) {
    this.#address = address;
    this.#onLost = onLost;
  }

  /** Why the link ended, if it did. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Requests that were sent to init so far, also those that were sent again. */
  get requestCount(): number {
    return this.#requestCount;
  }

  get isQuiesced(): boolean {
    return this.#gate !== undefined;
  }

  /**
   * Opens the control connection.
   *
   * @throws SESSION_UNRESPONSIVE  init does not answer in time.
   * @throws SESSION_ENDED         it is gone.
   */
  async connect(timeoutMs: number): Promise<void> {
    try {
      await this.#channel(CONTROL, timeoutMs);
    } catch (cause) {
      throw hasCode(cause, "SESSION_UNRESPONSIVE") ? cause : sessionEnded(cause);
    }
  }

  /**
   * Sends one request and returns its answer.
   *
   * @throws TOOL_FAILED           init refused it.
   * @throws SESSION_UNRESPONSIVE  it does not answer.
   */
  async call(kind: number, id: number, options: CallOptions = {}): Promise<Frame> {
    for (;;) {
      // Nothing is awaited between this test and the request: a dump may begin at any time.
      while (this.#gate !== undefined) await this.#gate.opened;
      if (this.#failure !== undefined) throw this.#failure;
      options.signal?.throwIfAborted();
      try {
        const answer = await this.#ask(kind, id, options);
        if (answer !== undefined) return answer;
      } catch (error) {
        throw this.#failure ?? error;
      }
    }
  }

  /** Finds out whether init answers. @throws SESSION_UNRESPONSIVE */
  async ping(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    await awaitInit(this.#address.initPid, this.#ping());
  }

  async #ping(): Promise<void> {
    const channel = await this.#channel(CONTROL, CONNECT_TIMEOUT_MS);
    await channel.request(FrameKind.list, 0, PING);
  }

  async #ask(kind: number, id: number, options: CallOptions): Promise<Frame | undefined> {
    const { key = CONTROL, payload, isPatient = false, onLate } = options;
    const { initPid } = this.#address;
    const channel = await awaitInit(initPid, this.#channel(key, CONNECT_TIMEOUT_MS));
    this.#requestCount += 1;
    const answering = channel.request(kind, id, payload);
    if (isPatient) return await answering;
    return await awaitInit(initPid, answering).catch((error: unknown) => {
      if (hasCode(error, "SESSION_UNRESPONSIVE")) answering.then(tellLate, ignore);
      throw error;
    });
    function tellLate(answer: Frame | undefined): void {
      if (answer !== undefined) onLate?.(answer);
    }
  }

  /** Runs `work` after all earlier work with the same key, so that input keeps its order over a dump. */
  inOrder<T>(key: string, work: (key: string) => Promise<T>): Promise<T> {
    const earlier = this.#queues.get(key) ?? Promise.resolve();
    const own = earlier.then(() => work(key));
    const settled = own.then(ignore, ignore);
    this.#queues.set(key, settled);
    void settled.then(() => {
      if (this.#queues.get(key) === settled) this.#queues.delete(key);
    });
    return own;
  }

  /** Opens a connection, trying again while init has none to spare. */
  async open(events: ChannelEvents, timeoutMs = CONNECT_TIMEOUT_MS): Promise<Channel> {
    const endsAtMs = performance.now() + timeoutMs;
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      try {
        const leftMs = Math.max(1, endsAtMs - performance.now());
        return await this.track(Channel.open(this.#address, events, leftMs));
      } catch (error) {
        if (this.isInitGone) throw error;
        if (performance.now() >= endsAtMs) throw unresponsive(this.#address.initPid, error);
      }
      await delay(CONNECT_RETRY_MS);
    }
  }

  /** Lets a dump wait for `work`, which opens a connection. */
  track<T>(work: Promise<T>): Promise<T> {
    const settled = work.then(ignore, ignore);
    this.#opening.add(settled);
    void settled.then(() => this.#opening.delete(settled));
    return work;
  }

  /**
   * Closes the gate and ends all connections in good order, those of `detach` too.
   *
   * **On failure** the gate is open; connections come again with {@link answered}.
   *
   * @throws SESSION_UNRESPONSIVE
   */
  async quiesce(detach: () => Promise<unknown>): Promise<void> {
    // Nothing is closed for an init that would not close its side.
    await this.ping();
    try {
      await awaitInit(this.#address.initPid, this.#closeAll(detach));
    } catch (error) {
      this.#channels.clear();
      this.#openGate();
      throw this.#failure ?? error;
    }
  }

  async #closeAll(detach: () => Promise<unknown>): Promise<void> {
    if (this.#gate === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#gate = { opened: promise, open: resolve };
    }
    // Connections being made must be complete first: init has to know them to close them.
    while (this.#opening.size > 0) await Promise.all(this.#opening);
    const channels = await Promise.allSettled(this.#channels.values());
    const closing = channels.map((each) =>
      each.status === "fulfilled" ? each.value.halfClose() : undefined,
    );
    await Promise.all([...closing, detach()]);
    this.#channels.clear();
  }

  /** Connects again and opens the gate. @throws SESSION_UNRESPONSIVE  init does not answer. */
  async resume(): Promise<void> {
    if (this.#gate === undefined || this.#failure !== undefined) return;
    try {
      await awaitInit(this.#address.initPid, this.#channel(CONTROL, CONNECT_TIMEOUT_MS));
    } finally {
      this.#openGate();
    }
  }

  /** Resolves when init answers again, however long that takes. @throws SESSION_ENDED  it is gone. */
  async answered(): Promise<void> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      try {
        // Calls that nobody takes would fill up the queue of those that wait to be taken.
        if (!this.#isInitStill()) return void (await this.#channel(CONTROL, CONNECT_TIMEOUT_MS));
      } catch {
        // It is tried again, unless it is gone.
      }
      if (this.isInitGone) throw sessionEnded();
      await delay(RECONNECT_INTERVAL_MS, undefined, { ref: false });
    }
  }

  #openGate(): void {
    const gate = this.#gate;
    this.#gate = undefined;
    gate?.open();
  }

  /** Drops everything; calls reject with `reason`. */
  end(reason: Error): void {
    this.#failure = reason;
    for (const channel of this.#channels.values()) channel.then((each) => each.destroy(), ignore);
    this.#channels.clear();
    this.#openGate();
  }

  /** Ends one connection that is not needed any more. */
  async close(key: string): Promise<void> {
    const channel = this.#channels.get(key);
    this.#channels.delete(key);
    if (channel !== undefined) await channel.then((each) => each.halfClose(), ignore);
  }

  /** A process that ends has lost its root before it is collected. */
  get isInitGone(): boolean {
    const { initPid } = this.#address;
    return initPid !== undefined && !existsSync(`/proc/${initPid}/root`);
  }

  #isInitStill(): boolean {
    const { initPid } = this.#address;
    return initPid !== undefined && findStandstill(initPid) !== null;
  }

  #channel(key: string, timeoutMs: number): Promise<Channel> {
    const existing = this.#channels.get(key);
    if (existing !== undefined) return existing;
    const onClose = (isOrderly: boolean) => {
      // A connection without HELLO is still being opened, and tried again there.
      if (isOrderly || !isOpen) return;
      this.#channels.delete(key);
      if (key === CONTROL) this.#onLost(sessionEnded());
    };
    let isOpen = false;
    const opening = this.open({ onClose }, timeoutMs).then((channel) => {
      isOpen = true;
      return channel;
    });
    this.#channels.set(key, opening);
    opening.catch(() => this.#channels.delete(key));
    return opening;
  }
}

function ignore(): void {}

function sessionEnded(cause?: unknown): WaypointError {
  return new WaypointError("SESSION_ENDED", "The session's first process is gone.", { cause });
}
