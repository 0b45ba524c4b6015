import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { WaypointError } from "../../../shared/errors/index.ts";
import type { DynamoTable, Item } from "./dynamo-table.ts";

/** What has to hold when a thread is taken. */
export interface LeaseConditions {
  /** The revision that the thread has. */
  expected?: number | undefined;
  mustExist?: boolean;
}

const LOOK_MS_MIN = 15;
const LOOK_MS_MAX = 120;
/** How long others may hold a thread, one after the other. */
const WAIT_MS_MAX = 60_000;
/** It is said anew that a thread is held after this part of the lease. */
const KEEP_PART = 1 / 4;

/**
 * The right to write a thread, which one writer has at a time: DynamoDB keeps no order between items.
 *
 * Its item counts up when the right is taken and when it is given back, so that a revision that was
 * read in between is never that of a thread at rest. Who finds that a holder has not moved for the
 * whole lease, by the own clock, takes the right over: that holder has died.
 */
export class ThreadLease {
  /** Grows with each holder: what a later one has written is not touched by an earlier one. */
  readonly revision: number;
  readonly isListed: boolean;
  readonly #table: DynamoTable;
  readonly #thread: string;
  readonly #holder: string;
  readonly #leaseMs: number;
  #keptAtMs: number;
  #beat = 0;
  #keeping: Promise<void> | null = null;

  private constructor(
    table: DynamoTable,
    thread: string,
    { item, holder, leaseMs, atMs }: { item: Item; holder: string; leaseMs: number; atMs: number },
  ) {
    this.#table = table;
    this.#thread = thread;
    this.revision = revisionOf(item);
    this.isListed = item["listed"]?.BOOL === true;
    this.#holder = holder;
    this.#leaseMs = leaseMs;
    this.#keptAtMs = atMs;
  }

  /** Returns null where a condition does not hold. */
  static async take(
    table: DynamoTable,
    thread: string,
    { expected, mustExist = false }: LeaseConditions,
    leaseMs: number,
  ): Promise<ThreadLease | null> {
    const holder = randomUUID();
    const conditions = [
      ...(expected === undefined ? [] : [revisionIs(expected)]),
      ...(mustExist ? ["attribute_exists(pk)"] : []),
    ];
    const endsAtMs = performance.now() + leaseMs + WAIT_MS_MAX;
    let seen = { holder: "", beat: "", sinceMs: 0 };
    for (;;) {
      const atMs = performance.now();
      const taken = await tryToTake(table, thread, holder, {
        conditions: ["attribute_not_exists(holder)", ...conditions],
        values: expected === undefined || expected === 0 ? {} : { ":expected": number(expected) },
      });
      const found = taken ?? (await table.get(leaseKey(thread)));
      const [by, beat] = [found?.["holder"]?.S ?? "", found?.["beat"]?.N ?? ""];
      // An answer may have been lost.
      if (found !== undefined && by === holder) {
        return new ThreadLease(table, thread, { item: found, holder, leaseMs, atMs });
      }
      if (mustExist && found === undefined) return null;
      if (expected !== undefined && expected !== revisionOf(found ?? {})) return null;
      if (by === "") continue;
      if (by !== seen.holder || beat !== seen.beat) seen = { holder: by, beat, sinceMs: atMs };
      if (atMs - seen.sinceMs > leaseMs) {
        const item = await seize(table, thread, holder, seen);
        if (item === null) continue;
        const lease = new ThreadLease(table, thread, { item, holder, leaseMs, atMs });
        if (expected === undefined) return lease;
        // Nobody knows what the dead one had written when the revision was read.
        await lease.release();
        return null;
      }
      if (atMs > endsAtMs) throw busy(thread);
      await delay(LOOK_MS_MIN + Math.random() * (LOOK_MS_MAX - LOOK_MS_MIN));
    }
  }

  /**
   * Makes sure that the thread is still held: nothing is written that another holder does not expect.
   *
   * @throws STORE_UNREACHABLE  it was taken over.
   */
  async keep(): Promise<void> {
    if (performance.now() - this.#keptAtMs < this.#leaseMs * KEEP_PART) return;
    this.#keeping ??= this.#sayThatItIsHeld().finally(() => {
      this.#keeping = null;
    });
    await this.#keeping;
  }

  /** @param isListed  whether the index of threads has the thread now */
  async release(isListed = this.isListed): Promise<void> {
    const listed = isListed ? "SET listed = :yes" : "";
    // One that is not held any more was given back, or taken over.
    await this.#table.update(
      leaseKey(this.#thread),
      `${listed} REMOVE holder, beat ADD revision :one`,
      {
        text: "holder = :holder",
        values: {
          ...{ ":holder": { S: this.#holder }, ":one": number(1) },
          ...(isListed ? { ":yes": { BOOL: true } } : {}),
        },
      },
    );
  }

  /** Says that the index does not have the thread, which is to be removed. */
  async unlist(): Promise<void> {
    const values = { ":holder": { S: this.#holder } };
    const text = "holder = :holder";
    const item = await this.#table.update(leaseKey(this.#thread), "REMOVE listed", {
      text,
      values,
    });
    if (item === null) throw takenOver(this.#thread);
  }

  /** Removes the thread's own item, and the right with it. */
  async remove(): Promise<void> {
    const values = { ":holder": { S: this.#holder } };
    await this.#table.remove(leaseKey(this.#thread), { text: "holder = :holder", values });
  }

  async #sayThatItIsHeld(): Promise<void> {
    const atMs = performance.now();
    this.#beat += 1;
    const item = await this.#table.update(leaseKey(this.#thread), "SET beat = :beat", {
      text: "holder = :holder",
      values: { ":holder": { S: this.#holder }, ":beat": number(this.#beat) },
    });
    if (item === null) throw takenOver(this.#thread);
    this.#keptAtMs = atMs;
  }
}

/** Returns the thread's revision: zero where it was never written. */
export async function readRevision(table: DynamoTable, thread: string): Promise<number> {
  return revisionOf((await table.get(leaseKey(thread))) ?? {});
}

export function takenOver(thread: string): WaypointError {
  return new WaypointError("STORE_UNREACHABLE", "A write took so long that another took over.", {
    hint: "Try again: what is written twice is the same as once.",
    detail: { thread },
  });
}

function busy(thread: string): WaypointError {
  return new WaypointError("STORE_UNREACHABLE", "Others write the thread all the while.", {
    hint: "Try again.",
    detail: { thread },
  });
}

async function tryToTake(
  table: DynamoTable,
  thread: string,
  holder: string,
  { conditions, values }: { conditions: readonly string[]; values: Item },
): Promise<Item | null> {
  return await table.update(
    leaseKey(thread),
    "SET holder = :holder, beat = :zero ADD revision :one",
    {
      text: conditions.join(" AND "),
      values: {
        ...{ ":holder": { S: holder }, ":zero": number(0), ":one": number(1) },
        ...values,
      },
    },
  );
}

async function seize(
  table: DynamoTable,
  thread: string,
  holder: string,
  seen: { holder: string; beat: string },
): Promise<Item | null> {
  return await tryToTake(table, thread, holder, {
    conditions: ["holder = :seen", "beat = :beat"],
    values: { ":seen": { S: seen.holder }, ":beat": { N: seen.beat } },
  });
}

function revisionIs(expected: number): string {
  return expected === 0 ? "attribute_not_exists(revision)" : "revision = :expected";
}

function leaseKey(thread: string) {
  return { pk: `m/${thread}`, sk: "m" };
}

function revisionOf(item: Item): number {
  return Number(item["revision"]?.N ?? 0);
}

function number(value: number): { N: string } {
  return { N: String(value) };
}
