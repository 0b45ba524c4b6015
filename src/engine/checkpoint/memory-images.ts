import type { Engine, MemoryBudget } from "../ports/index.ts";
import { chooseForgotten, type ImagesInMemory } from "./choose-forgotten.ts";

const MEBIBYTE = 1024 ** 2;
/** Part of the images' budget that durable checkpoints may hold. */
const KEPT_SHARE = 1 / 16;
/** A few checkpoints of a small session, however small the budget is. */
const KEPT_BYTES_MIN = 64 * MEBIBYTE;
/** After it a person or an agent has gone on to something else. */
const IDLE_MS = 60_000;
/** How often to look whether others need memory: nobody tells of it. */
const LOOK_INTERVAL_MS = 5_000;

/**
 * The memory that images of durable checkpoints take: bounded while work goes on, given back when it
 * rests, and at once when the machine is short of it.
 *
 * They are in the store as well, where the kernel caches them in memory that it can take back.
 */
export class MemoryImages implements MemoryBudget {
  readonly #engine: Engine;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> = Promise.resolve();

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#timer = setInterval(() => this.#look(), LOOK_INTERVAL_MS);
    this.#timer.unref();
  }

  async trim(): Promise<void> {
    const { images } = this.#engine.store;
    const rules = {
      keptBytesMax: Math.max(KEPT_BYTES_MIN, images.usage().budgetBytes * KEPT_SHARE),
      idleMs: IDLE_MS,
      isMemoryShort: !images.isMemorySpare(),
    };
    for (const id of chooseForgotten(await this.#durable(), rules)) await this.#forget(id);
  }

  async makeRoom(expectedBytes: number): Promise<void> {
    const { images } = this.#engine.store;
    // What will never fit is no reason to give up the rest.
    if (expectedBytes > images.usage().budgetBytes || images.hasRoomFor(expectedBytes)) return;
    const rules = { keptBytesMax: 0, idleMs: 0, isMemoryShort: true };
    for (const id of chooseForgotten(await this.#durable(), rules)) {
      await this.#forget(id);
      if (images.hasRoomFor(expectedBytes)) return;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  #look(): void {
    this.#looking = this.#looking
      .then(() => this.trim())
      .catch((error: unknown) => this.#engine.logger.error("give back memory of images", error));
  }

  async #durable(): Promise<ImagesInMemory[]> {
    const { catalog, store } = this.#engine;
    const isDurable = (id: string) => catalog.checkpoint(id)?.stage === "durable";
    const held = await store.images.held(isDurable);
    if (held.length === 0) return [];
    const running = catalog.sessions().filter(({ state }) => state === "running");
    const heads = new Set(running.map(({ head }) => head));
    return held.map((images) => ({ ...images, isHead: heads.has(images.checkpointId) }));
  }

  async #forget(checkpointId: string): Promise<void> {
    await this.#engine.store.images.forget(this.#engine.store.checkpointPaths(checkpointId));
  }
}
