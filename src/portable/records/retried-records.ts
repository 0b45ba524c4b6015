import { setTimeout as sleep } from "node:timers/promises";
import { hasCode } from "../../shared/errors/index.ts";
import type { Change, ScanOptions, ThreadRecords, WriteConditions } from "./thread-records.ts";

const TRIES_MAX = 5;
const FIRST_PAUSE_MS = 50;
const PAUSE_FACTOR = 3;

/**
 * A store that is asked again where it could not be reached: 2 s in all. What is written twice is the
 * same as once, so nothing can go wrong by it, but that a write on an `ifRevision` may be told as refused.
 */
export class RetriedRecords implements ThreadRecords {
  readonly #records: ThreadRecords;

  constructor(records: ThreadRecords) {
    this.#records = records;
  }

  async write(thread: string, changes: readonly Change[], conditions?: WriteConditions) {
    return await retry(() => this.#records.write(thread, changes, conditions));
  }

  async read(thread: string, keys: readonly string[]) {
    return await retry(() => this.#records.read(thread, keys));
  }

  async scan(thread: string, options: ScanOptions) {
    return await retry(() => this.#records.scan(thread, options));
  }

  async revision(thread: string) {
    return await retry(() => this.#records.revision(thread));
  }

  async threads(options: { after?: string; limit: number }) {
    return await retry(() => this.#records.threads(options));
  }

  async deleteThread(thread: string) {
    await retry(() => this.#records.deleteThread(thread));
  }

  async [Symbol.asyncDispose]() {
    await this.#records[Symbol.asyncDispose]();
  }
}

async function retry<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1, pauseMs = FIRST_PAUSE_MS; ; tries += 1, pauseMs *= PAUSE_FACTOR) {
    try {
      return await call();
    } catch (error) {
      if (tries === TRIES_MAX || !hasCode(error, "STORE_UNREACHABLE")) throw error;
      // Clients that lost the same server do not all come back at the same moment.
      await sleep(pauseMs * (0.5 + Math.random() / 2));
    }
  }
}
