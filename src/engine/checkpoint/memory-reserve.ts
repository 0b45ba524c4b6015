import type { CheckpointRow } from "../../portable/model/index.ts";
import type { Engine, WarmReserve, WarmStatus } from "../ports/index.ts";
import { workDirOf } from "../session/index.ts";

const MEBIBYTE = 1024 ** 2;
/** Smaller images cost nothing that one could feel: they find room in what is always at hand. */
const WORTH_BYTES_MIN = 8 * MEBIBYTE;
/**
 * Beside the images themselves: what CRIU, the snapshot and the kernel's own lists of free pages take
 * of what is let go of.
 */
const SLACK_BYTES = 32 * MEBIBYTE;
/** After it a person or an agent has gone on to something else, and all is given back. */
const IDLE_MS = 300_000;
/** Checkpoints that follow each other closer need no reserve: what was freed is still at hand. */
const FILL_DELAY_MS = 150;
/** How often to look whether sessions have grown or ended, and whether there is still room. */
const LOOK_INTERVAL_MS = 5_000;

/** What one session needs. */
interface Need {
  imagesBytes: number;
  /** What its processes held when that was noted: what came since will be in the next images. */
  treeBytes: number;
  atMs: number;
}

/**
 * Returns what the pause of the next checkpoint of a session will write, as far as the last one tells.
 *
 * Where writes are followed it is what was written, or what is copied in a pause all the same: a larger session that
 * has nothing to compare with is copied while it runs.
 */
export function bytesOfPause(
  { memoryBytes, pauseBytes }: Pick<CheckpointRow, "memoryBytes" | "pauseBytes">,
  { trackMemory }: Pick<Engine["settings"], "trackMemory">,
): number {
  if (pauseBytes === null || trackMemory === null) return memoryBytes;
  return Math.min(memoryBytes, Math.max(pauseBytes, trackMemory.aheadBytesMin));
}

/** What holds memory, and says how much may be held. */
export interface ReserveMemory {
  keep(bytes: number): void;
  leave(bytes: number): void;
  heldBytes(): Promise<number>;
  /** What is held already is counted in. */
  roomBytes(heldBytes: number): number;
  close(): Promise<void>;
}

/**
 * Memory that is touched and held for the next images, within the images' budget: as much as the largest
 * session that was captured lately will need. It is let go of right before a dump, which writes into it,
 * and filled again after it.
 *
 * The kernel may take it at any time, and does so before anything else; that, and any failure, costs a
 * longer pause and nothing more.
 */
export class MemoryReserve implements WarmReserve {
  readonly #engine: Pick<Engine, "criu" | "live" | "sandbox" | "store" | "logger">;
  readonly #memory: ReserveMemory;
  readonly #needs = new Map<string, Need>();
  readonly #lookTimer: NodeJS.Timeout;
  #fillTimer: NodeJS.Timeout | undefined;
  #filling: Promise<void> = Promise.resolve();
  /** Dumps that write now. */
  #dumps = 0;
  #keptBytes = 0;
  #hasRoom = true;
  #isClosed = false;

  constructor(
    engine: Pick<Engine, "criu" | "live" | "sandbox" | "store" | "logger">,
    memory: ReserveMemory,
  ) {
    this.#engine = engine;
    this.#memory = memory;
    this.#lookTimer = setInterval(() => this.#look(), LOOK_INTERVAL_MS);
    this.#lookTimer.unref();
  }

  note(sessionId: string, imagesBytes: number): void {
    this.#needs.set(sessionId, {
      ...{ imagesBytes, treeBytes: this.#treeBytes(sessionId) ?? 0 },
      atMs: performance.now(),
    });
  }

  makeWay(expectedBytes: number): void {
    clearTimeout(this.#fillTimer);
    this.#dumps += 1;
    if (expectedBytes < WORTH_BYTES_MIN) return;
    this.#keptBytes = Math.max(0, this.#keptBytes - expectedBytes - SLACK_BYTES);
    this.#memory.leave(this.#keptBytes);
  }

  fill(): void {
    this.#dumps -= 1;
    clearTimeout(this.#fillTimer);
    this.#fillTimer = setTimeout(() => this.#fillSoon(true), FILL_DELAY_MS);
    this.#fillTimer.unref();
  }

  async status(): Promise<WarmStatus> {
    const { criu, live } = this.#engine;
    const takenBytes = live
      .all()
      .map(({ instanceId }) => criu.takenPagesBytes(workDirOf(instanceId)))
      .reduce((sum, bytes) => sum + bytes, 0);
    const heldBytes = (await this.#memory.heldBytes()) + takenBytes;
    return { heldBytes, wantedBytes: this.#wantedBytes() };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#lookTimer);
    clearTimeout(this.#fillTimer);
    await this.#filling;
    await this.#memory.close();
  }

  #look(): void {
    const now = performance.now();
    for (const [sessionId, { atMs }] of this.#needs) {
      const isGone = this.#treeBytes(sessionId) === undefined;
      if (isGone || now - atMs > IDLE_MS) this.#needs.delete(sessionId);
    }
    this.#trimTaken();
    if (this.#needs.size > 0 || this.#keptBytes > 0) this.#fillSoon(false);
  }

  /** What a pause copies small pieces into is kept while a session is captured now and then, and there is room. */
  #trimTaken(): void {
    if (this.#dumps > 0) return;
    for (const { sessionId, instanceId } of this.#engine.live.all()) {
      const isKept = this.#hasRoom && this.#needs.has(sessionId);
      if (!isKept) this.#engine.criu.trimTakenPages(workDirOf(instanceId), 0);
    }
  }

  #fillSoon(isAfterDump: boolean): void {
    this.#filling = this.#filling
      .then(() => this.#fillNow(isAfterDump))
      .catch((error: unknown) => this.#engine.logger.error("hold warm memory", error));
  }

  async #fillNow(isAfterDump: boolean): Promise<void> {
    const heldBytes = await this.#memory.heldBytes();
    if (this.#isClosed || this.#dumps > 0) return;
    const { usedBytes, budgetBytes } = this.#engine.store.images.usage();
    const roomBytes = Math.min(budgetBytes - usedBytes, this.#memory.roomBytes(heldBytes));
    this.#hasRoom = roomBytes > 0;
    const bytes = Math.floor(Math.max(0, Math.min(this.#wantedBytes(), roomBytes)));
    // What the kernel has taken was needed elsewhere: it is left there until the next dump.
    if (!isAfterDump && isAbout(bytes, this.#keptBytes)) return;
    this.#keptBytes = bytes;
    this.#memory.keep(bytes);
  }

  #wantedBytes(): number {
    const needs = [...this.#needs].map(([sessionId, { imagesBytes, treeBytes }]) => {
      const grownBytes = Math.max(0, (this.#treeBytes(sessionId) ?? 0) - treeBytes);
      return imagesBytes + grownBytes;
    });
    const largest = Math.max(0, ...needs);
    return largest < WORTH_BYTES_MIN ? 0 : largest + SLACK_BYTES;
  }

  /** Returns what a session's processes hold; `undefined` where it does not run. */
  #treeBytes(sessionId: string): number | undefined {
    const live = this.#engine.live.get(sessionId);
    return live === undefined ? undefined : this.#engine.sandbox.treeMemoryBytes(live.pid);
  }
}

/** A session's memory is never quite the same; to hold it anew for that would be work without end. */
function isAbout(bytes: number, keptBytes: number): boolean {
  return Math.abs(bytes - keptBytes) <= SLACK_BYTES / 2 && (bytes > 0 || keptBytes === 0);
}
