import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { WaypointError } from "../errors/index.ts";
import { Channel, type ChannelEvents, type InitAddress } from "./channel.ts";
import type { Frame } from "./frames.ts";

export const CONNECT_TIMEOUT_MS = 10_000;
const CONNECT_RETRY_MS = 5;

/** The connection whose loss means that init is gone. */
const CONTROL = "control";

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

  /** Opens the control connection. @throws SESSION_ENDED  init does not answer in time. */
  async connect(timeoutMs: number): Promise<void> {
    try {
      await this.#channel(CONTROL, timeoutMs);
    } catch (cause) {
      throw sessionEnded(cause);
    }
  }

  /** Sends one request and returns its answer. @throws TOOL_FAILED  init refused it. */
  async call(kind: number, id: number, payload?: Uint8Array, key = CONTROL): Promise<Frame> {
    for (;;) {
      // Nothing is awaited between this test and the request: a dump may begin at any time.
      while (this.#gate !== undefined) await this.#gate.opened;
      if (this.#failure !== undefined) throw this.#failure;
      try {
        const channel = await this.#channel(key, CONNECT_TIMEOUT_MS);
        this.#requestCount += 1;
        const answer = await channel.request(kind, id, payload);
        if (answer !== undefined) return answer;
      } catch (error) {
        throw this.#failure ?? error;
      }
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
        if (performance.now() >= endsAtMs || this.#isInitGone()) throw error;
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

  /** Closes the gate and ends all connections in good order, those of `detach` too. */
  async quiesce(detach: () => Promise<unknown>): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
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

  /** Connects again and opens the gate. @throws SESSION_ENDED  init does not answer any more. */
  async resume(): Promise<void> {
    const gate = this.#gate;
    if (gate === undefined || this.#failure !== undefined) return;
    try {
      await this.connect(CONNECT_TIMEOUT_MS);
    } finally {
      this.#gate = undefined;
      gate.open();
    }
  }

  /** Drops everything; calls reject with `reason`. */
  end(reason: Error): void {
    this.#failure = reason;
    for (const channel of this.#channels.values()) channel.then((each) => each.destroy(), ignore);
    this.#channels.clear();
    this.#gate?.open();
    this.#gate = undefined;
  }

  /** Ends one connection that is not needed any more. */
  async close(key: string): Promise<void> {
    const channel = this.#channels.get(key);
    this.#channels.delete(key);
    if (channel !== undefined) await channel.then((each) => each.halfClose(), ignore);
  }

  /** A process that ends has lost its root before it is collected. */
  #isInitGone(): boolean {
    const { initPid } = this.#address;
    return initPid !== undefined && !existsSync(`/proc/${initPid}/root`);
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
