import type { Change } from "../../portable/records/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { changesOfRecord, openRecord, type RecordTools } from "./checkpoint-record.ts";
import { EXPIRY_KEY } from "./record-keys.ts";

/** How long a thread is kept after it was last written. */
export interface ExpiryOptions {
  seconds: number;
  /** Whether reading a thread keeps it, too. @defaultValue false */
  refreshOnRead?: boolean;
}

interface ExpiryRecord {
  atMs: number;
}

/** The record is written again once so much of the time has gone: not with each put. */
const REFRESHED_AFTER = 0.1;
const THREADS_MAX = 10_000;

/** When threads expire. */
export class ThreadExpiry {
  readonly #tools: RecordTools;
  readonly #lifetimeMs: number | null;
  readonly #isRefreshedByReads: boolean;
  /** What this program has written last, by thread. */
  readonly #written = new Map<string, number>();

  constructor(tools: RecordTools, options?: ExpiryOptions) {
    this.#tools = tools;
    if (options !== undefined && !(Number.isFinite(options.seconds) && options.seconds > 0)) {
      throw new WaypointError("USAGE_INVALID", "expiry.seconds has to be a number above 0.");
    }
    this.#lifetimeMs = options === undefined ? null : options.seconds * 1000;
    this.#isRefreshedByReads = options?.refreshOnRead === true;
  }

  /**
   * Returns what a write of the thread has to write beside its own.
   *
   * @param isNew  somebody may have removed what this program wrote last. @defaultValue false
   */
  changesFor(thread: string, isNew = false): Change[] {
    if (this.#lifetimeMs === null) return [];
    const atMs = Date.now() + this.#lifetimeMs;
    const writtenMs = isNew ? 0 : (this.#written.get(thread) ?? 0);
    if (atMs - writtenMs < this.#lifetimeMs * REFRESHED_AFTER) return [];
    if (this.#written.size >= THREADS_MAX) this.#written.clear();
    this.#written.set(thread, atMs);
    const record: ExpiryRecord = { atMs };
    return changesOfRecord(this.#tools, { thread, key: EXPIRY_KEY }, record);
  }

  /** Removes the thread if its time is over, and tells so; else notes that it was read. */
  async endIfOver(thread: string): Promise<boolean> {
    if (this.#lifetimeMs === null) return false;
    if (await this.removeIfOver(thread)) return true;
    const changes = this.#isRefreshedByReads ? this.changesFor(thread) : [];
    if (changes.length > 0 && (await this.#tools.records.revision(thread)) > 0) {
      await this.#tools.records.write(thread, changes);
    }
    return false;
  }

  /** Removes the thread if its time is over, and tells so. */
  async removeIfOver(thread: string): Promise<boolean> {
    if (!(await this.#isOver(thread))) return false;
    this.forget(thread);
    await this.#tools.records.deleteThread(thread);
    return true;
  }

  forget(thread: string): void {
    this.#written.delete(thread);
  }

  async #isOver(thread: string): Promise<boolean> {
    const kept = (await this.#tools.records.read(thread, [EXPIRY_KEY])).get(EXPIRY_KEY);
    if (kept === undefined) return false;
    const at = { thread, key: EXPIRY_KEY };
    const isWhole = ({ atMs }: Partial<ExpiryRecord>) => Number.isFinite(atMs);
    return (await openRecord<ExpiryRecord>(this.#tools, at, kept, isWhole)).atMs <= Date.now();
  }
}
