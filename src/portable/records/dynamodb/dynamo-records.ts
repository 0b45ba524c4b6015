import { checkChanges, threadBytes } from "../remote/check-write.ts";
import { keyRange } from "../remote/key-range.ts";
import type {
  Change,
  ScanOptions,
  ThreadRecord,
  ThreadRecords,
  WriteConditions,
  WriteResult,
} from "../thread-records.ts";
import { optionsOf } from "./address.ts";
import { connectDynamo, type DynamoConnection, type DynamoOptions } from "./connect-dynamo.ts";
import type { Condition, DynamoTable, Item } from "./dynamo-table.ts";
import { prepareTable } from "./prepare-table.ts";
import { readRevision, ThreadLease, takenOver } from "./thread-lease.ts";
import { stepsOf } from "./write-order.ts";

/** A writer that has not moved for so long has died. */
const LEASE_MS = 20_000;
const REQUESTS_AT_ONCE = 25;
const REMOVE_PAGE = 500;
/** The index of threads: one partition, written when a thread comes and when it goes. */
const INDEX = "threads";
/** Below and above all keys of records. */
const ALL_KEYS = { from: " ", isFromInside: true, below: "\u{7f}" };

/**
 * Records in a table of DynamoDB, an item each. Writes of a thread happen one after the other, but not
 * as a whole: a crash leaves a part, in the order that the contract has.
 */
export class DynamoRecords implements ThreadRecords {
  readonly #table: DynamoTable;
  readonly #connection: DynamoConnection;
  readonly #leaseMs: number;
  /** The last write of each thread that is under way here: they need not ask for the lease. */
  readonly #writing = new Map<string, Promise<unknown>>();

  private constructor(table: DynamoTable, connection: DynamoConnection, leaseMs: number) {
    this.#table = table;
    this.#connection = connection;
    this.#leaseMs = leaseMs;
  }

  /**
   * Connects, and makes the table where that is asked for.
   *
   * @param options  `leaseMs` is how long the thread of a writer that died stands still.
   *   @defaultValue 20,000
   * @throws FORMAT_TOO_NEW  a newer Waypoint wrote the table.
   * @throws USAGE_INVALID  the package `@aws-sdk/client-dynamodb` is not installed.
   * @throws STORE_UNREACHABLE, STORE_FAILED
   */
  static async open(options: DynamoOptions & { leaseMs?: number }): Promise<DynamoRecords> {
    const connection = await connectDynamo(options);
    try {
      const table = await prepareTable(connection, options.table, options.createTable === true);
      return new DynamoRecords(table, connection, options.leaseMs ?? LEASE_MS);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /**
   * As {@link open}, with what an address says: `dynamodb://TABLE?region=…&endpoint=…&createTable=true`.
   *
   * @throws USAGE_INVALID  it is none.
   */
  static async openAddress(address: string): Promise<DynamoRecords> {
    return await DynamoRecords.open(optionsOf(address));
  }

  async write(
    thread: string,
    changes: readonly Change[],
    { requires, ifRevision }: WriteConditions = {},
  ): Promise<WriteResult> {
    checkChanges(changes);
    threadBytes(thread);
    return await this.#inTurn(thread, async () => {
      const mustExist = requires !== undefined;
      const conditions = { expected: ifRevision, mustExist };
      const lease = await ThreadLease.take(this.#table, thread, conditions, this.#leaseMs);
      if (lease === null) return { isDone: false, kept: [] };
      return await this.#holding(lease, async () => {
        if (requires !== undefined) {
          const there = await this.#table.get({ pk: partOf(thread), sk: requires });
          if (there === undefined) return { isDone: false, kept: [] };
        }
        if (!lease.isListed) await this.#table.put({ pk: INDEX, sk: partOf(thread) }, {});
        return { isDone: true, kept: await this.#apply(lease, thread, changes) };
      });
    });
  }

  async read(thread: string, keys: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    threadBytes(thread);
    const items = await this.#table.getMany(partOf(thread), keys);
    return new Map(items.map((item) => [keyOf(item), bytesOf(item)]));
  }

  async scan(thread: string, options: ScanOptions): Promise<readonly ThreadRecord[]> {
    threadBytes(thread);
    const range = keyRange(options);
    // No key is empty, nor may an end of a query be.
    const from = range.from === "" ? ALL_KEYS.from : range.from;
    if (from >= range.below) return [];
    const items = await this.#table.query(partOf(thread), { ...range, from }, options);
    return items.map((item) => ({ key: keyOf(item), value: bytesOf(item) }));
  }

  async revision(thread: string): Promise<number> {
    threadBytes(thread);
    return await readRevision(this.#table, thread);
  }

  async threads({ after, limit }: { after?: string; limit: number }): Promise<readonly string[]> {
    const from = after === undefined ? "t/" : partOf(after);
    const range = { from, isFromInside: after === undefined, below: "t0" };
    const items = await this.#table.query(INDEX, range, { limit });
    return items.map((item) => keyOf(item).slice("t/".length));
  }

  async deleteThread(thread: string): Promise<void> {
    threadBytes(thread);
    await this.#inTurn(thread, async () => {
      const conditions = { mustExist: true };
      const lease = await ThreadLease.take(this.#table, thread, conditions, this.#leaseMs);
      if (lease === null) return;
      // From here on, whoever writes it lists it again.
      await lease.unlist();
      for (;;) {
        const page = { limit: REMOVE_PAGE, isKeysOnly: true };
        const items = await this.#table.query(partOf(thread), ALL_KEYS, page);
        if (items.length === 0) break;
        await lease.keep();
        await this.#table.removeMany(partOf(thread), items.map(keyOf));
      }
      await this.#table.removeMany(INDEX, [partOf(thread)]);
      await lease.remove();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#writing.values());
    this.#connection.close();
  }

  async #inTurn<T>(thread: string, work: () => Promise<T>): Promise<T> {
    const before = this.#writing.get(thread) ?? Promise.resolve();
    const turn = before.then(work, work);
    const settled = turn.catch(() => {});
    this.#writing.set(thread, settled);
    try {
      return await turn;
    } finally {
      if (this.#writing.get(thread) === settled) this.#writing.delete(thread);
    }
  }

  /** Gives the lease back; where the work has failed, only as far as that works too. */
  async #holding(lease: ThreadLease, work: () => Promise<WriteResult>): Promise<WriteResult> {
    let result: WriteResult;
    try {
      result = await work();
    } catch (error) {
      await lease.release().catch(() => {});
      throw error;
    }
    await lease.release(lease.isListed || result.isDone);
    return result;
  }

  async #apply(lease: ThreadLease, thread: string, changes: readonly Change[]): Promise<string[]> {
    const kept: string[] = [];
    for (const step of stepsOf(changes)) {
      await inParallel(step, async (change) => {
        if (!(await this.#change(lease, thread, change))) kept.push(change.key);
      });
    }
    return kept;
  }

  /** Returns false where another one stays that was first. */
  async #change(
    lease: ThreadLease,
    thread: string,
    { key, value, mode = "replace" }: Change,
  ): Promise<boolean> {
    const at = { pk: partOf(thread), sk: key };
    const keep = () => lease.keep();
    const item: Item = {
      r: { N: String(lease.revision) },
      // Not all servers take an empty one.
      ...(value === null || value.length === 0 ? {} : { v: { B: value } }),
    };
    if (value !== null && mode === "first") {
      if (await this.#table.put(at, item, { text: "attribute_not_exists(pk)" }, keep)) return true;
      const there = await this.#table.get(at);
      return there !== undefined && Buffer.compare(bytesOf(there), value) === 0;
    }
    const notLater: Condition = {
      text: "attribute_not_exists(pk) OR r <= :r",
      values: { ":r": { N: String(lease.revision) } },
    };
    const isDone =
      value === null
        ? await this.#table.remove(at, notLater, keep)
        : await this.#table.put(at, item, notLater, keep);
    if (!isDone) throw takenOver(thread);
    return true;
  }
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const item = items[next++] as T;
      await work(item);
    }
  };
  const lanes = Array.from({ length: Math.min(REQUESTS_AT_ONCE, items.length) }, lane);
  // Nothing of it goes on when it is said that it has failed.
  const failed = (await Promise.allSettled(lanes)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

function partOf(thread: string): string {
  return `t/${thread}`;
}

function keyOf(item: Item): string {
  return item["sk"]?.S ?? "";
}

function bytesOf(item: Item): Uint8Array {
  return item["v"]?.B ?? new Uint8Array();
}
