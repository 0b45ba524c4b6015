import type { Channel } from "./channel.ts";
import type { Connections } from "./connections.ts";
import type { Frame } from "./frames.ts";

/** A connection that is made before it is known what for. */
interface Spare {
  channel: Promise<Channel>;
  events: { onFrame?: (frame: Frame) => void };
}

/** At most one connection ahead of need. */
export class SpareChannel {
  readonly #connections: Connections;
  #spare: Spare | undefined;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Begins to connect, unless that was done. */
  prepare(): void {
    if (this.#spare !== undefined) return;
    const events: Spare["events"] = {};
    const spare = { events, channel: this.#connections.open(events) };
    this.#spare = spare;
    // One that fails is none: whoever needs it connects anew.
    spare.channel.then(
      (channel) => channel.closed.then(() => this.#forget(spare)),
      () => this.#forget(spare),
    );
  }

  /** Returns a connection whose frames go to `onFrame`. */
  async take(onFrame: (frame: Frame) => void): Promise<Channel> {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare === undefined) return await this.#connections.open({ onFrame });
    spare.events.onFrame = onFrame;
    return await spare.channel.catch(() => this.#connections.open({ onFrame }));
  }

  /** Ends it in good order, if there is one. */
  async close(): Promise<void> {
    const spare = this.#spare;
    this.#spare = undefined;
    await spare?.channel.then(
      (channel) => channel.halfClose(),
      () => {},
    );
  }

  #forget(spare: Spare): void {
    if (this.#spare === spare) this.#spare = undefined;
  }
}
