import type { SessionNetwork } from "./session-network.ts";

/** Waits for whoever takes one to be served, so that making the next does not take their core. */
const REFILL_DELAY_MS = 100;

const ID_PREFIX = "spare-";

/** Tells the id of a spare network from that of an instance. */
export function isSpareId(id: string): boolean {
  return id.startsWith(ID_PREFIX);
}

/** A network that was made in advance and is nobody's yet. */
interface SpareNetwork extends Pick<SessionNetwork, "address" | "linkIndex"> {
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
  readonly #rename: (fromId: string, toId: string) => Promise<void>;
  #ready: SpareNetwork[] = [];
  #made = 0;
  /** Those that are about to be ready. */
  #keeping = 0;
  #timer: NodeJS.Timeout | null = null;
  #filling: Promise<void> = Promise.resolve();
  /** Whether anybody may want one: a session with a link lives. */
  #isWanted = false;

  constructor(options: {
    countMax: number;
    make: (id: string) => Promise<SessionNetwork>;
    remove: (id: string) => Promise<void>;
    /** What has failed in the middle can be removed by either id. */
    rename: (fromId: string, toId: string) => Promise<void>;
  }) {
    this.#countMax = options.countMax;
    this.#make = options.make;
    this.#remove = options.remove;
    this.#rename = options.rename;
  }

  /** How many there are. */
  get readyCount(): number {
    return this.#ready.length;
  }

  /** Gives one away, if there is one; what is missing is made soon. */
  async give(toId: string): Promise<SpareNetwork | null> {
    const spare = this.#ready.shift();
    this.#refill();
    if (spare === undefined) return null;
    await this.#rename(spare.id, toId);
    return spare;
  }

  /**
   * Keeps one that is as if it had just been made; `false` where it still has to be removed.
   *
   * More are kept than are made, so that one is there when the next is taken.
   */
  async keep(
    fromId: string,
    network: Pick<SpareNetwork, "address" | "linkIndex">,
  ): Promise<boolean> {
    if (!this.#isWanted || this.#ready.length + this.#keeping >= 2 * this.#countMax) return false;
    const id = this.#nextId();
    this.#keeping += 1;
    try {
      await this.#rename(fromId, id);
    } catch {
      await this.#remove(id);
      return false;
    } finally {
      this.#keeping -= 1;
    }
    if (this.#isWanted) this.#ready.push({ ...network, id });
    else await this.#remove(id);
    return true;
  }

  /** Makes what is missing, soon, in the background. */
  #refill(): void {
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

  #nextId(): string {
    return `${ID_PREFIX}${++this.#made}`;
  }

  async #fill(): Promise<void> {
    try {
      while (this.#isWanted && this.#ready.length + this.#keeping < this.#countMax) {
        const id = this.#nextId();
        const { address, linkIndex } = await this.#make(id);
        this.#ready.push({ id, address, linkIndex });
      }
    } catch {
      // The next network that is needed will be made then, and its error be told.
    } finally {
      this.#timer = null;
    }
  }
}
