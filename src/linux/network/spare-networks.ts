import type { SessionNetwork } from "./network-host.ts";

/** Waits for whoever takes one to be served, so that making the next does not take their core. */
const REFILL_DELAY_MS = 100;

const ID_PREFIX = "spare-";

/** Tells the id of a spare network from that of an instance. */
export function isSpareId(id: string): boolean {
  return id.startsWith(ID_PREFIX);
}

/** A network that was made in advance and is nobody's yet. */
export interface SpareNetwork extends SessionNetwork {
  id: string;
}

/**
 * Networks with a link, made in advance.
 *
 * They are an offer: one that cannot be made is missed by nobody, since a network can always be
 * made when it is needed. What a killed daemon leaves of them, its successor finds by their ids.
 */
export class SpareNetworks {
  readonly #countMax: number;
  readonly #make: (id: string) => Promise<SessionNetwork>;
  readonly #remove: (id: string) => Promise<void>;
  #ready: SpareNetwork[] = [];
  #made = 0;
  #timer: NodeJS.Timeout | null = null;
  #filling: Promise<void> = Promise.resolve();
  /** Whether anybody may want one: a session with a link lives. */
  #isWanted = false;

  constructor(options: {
    countMax: number;
    make: (id: string) => Promise<SessionNetwork>;
    remove: (id: string) => Promise<void>;
  }) {
    this.#countMax = options.countMax;
    this.#make = options.make;
    this.#remove = options.remove;
  }

  /** How many there are. */
  get readyCount(): number {
    return this.#ready.length;
  }

  /** Takes one away, if there is one; it is the caller's from now on. */
  take(): SpareNetwork | undefined {
    return this.#ready.shift();
  }

  /** Makes what is missing, soon, in the background. */
  refill(): void {
    this.#isWanted = true;
    if (this.#timer !== null || this.#ready.length >= this.#countMax) return;
    this.#timer = setTimeout(() => {
      this.#filling = this.#filling.then(() => this.#fill());
    }, REFILL_DELAY_MS);
    this.#timer.unref();
  }

  /** Removes them all, and resolves when they are gone. */
  async discard(): Promise<void> {
    this.#isWanted = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#filling;
    const spares = this.#ready;
    this.#ready = [];
    await Promise.all(spares.map(({ id }) => this.#remove(id)));
  }

  async #fill(): Promise<void> {
    try {
      while (this.#isWanted && this.#ready.length < this.#countMax) {
        const id = `${ID_PREFIX}${++this.#made}`;
        this.#ready.push({ ...(await this.#make(id)), id });
      }
    } catch {
      // The next network that is needed will be made then, and its error be told.
    } finally {
      this.#timer = null;
    }
  }
}
