/**
 * One change of a record. A key is printable ASCII, 1 to 1,024 characters; order is that of bytes. One
 * key may change several times in a write.
 */
export interface Change {
  key: string;
  /** What stands there from now on, at most {@link VALUE_BYTES_MAX}; null removes the record. */
  value: Uint8Array | null;
  /**
   * What to do where the key is there: `replace` it, keep the `first` and say so if it is another, or
   * keep either, since the key names the `content`. @defaultValue "replace"
   */
  mode?: "replace" | "first" | "content";
}

/** What has to be true in the moment of a write, else nothing is written; and what it has to survive. */
export interface WriteConditions {
  /**
   * What the write survives once it is answered: a loss of power, or the death of this process alone
   * until about a second later. A store that does more for every write may. @defaultValue "power"
   */
  survives?: "power" | "process";
  /** It may wait for another write of this turn of the program, and share what that costs. */
  mayWait?: true;
  /** This record is there. */
  requires?: string;
  /** Nobody has written the thread since {@link ThreadRecords.revision} was this. */
  ifRevision?: number;
}

export interface WriteResult {
  /** False where a condition did not hold: nothing was written. */
  isDone: boolean;
  /** Keys of `first` that had another value before, and stayed as they were. */
  kept: readonly string[];
}

export interface ThreadRecord {
  key: string;
  /** Empty where only keys were asked for. */
  value: Uint8Array;
}

export interface ScanOptions {
  /** Keys that begin so. */
  prefix: string;
  /** Only keys above, or below, this one. */
  after?: string;
  before?: string;
  /** From the greatest key down. @defaultValue false */
  isReverse?: boolean;
  /** How many at most. */
  limit: number;
  /** Leave the values where they are. @defaultValue false */
  isKeysOnly?: boolean;
}

/** A value is no larger, whatever keeps it: DynamoDB has items of 400 KB. */
export const VALUE_BYTES_MAX = 350_000;
/** Keys and values of one write are no more: servers take it in one message. */
export const WRITE_BYTES_MAX = 256 * 1024 ** 2;
/** A thread's name is no longer, as UTF-8. */
export const THREAD_BYTES_MAX = 1000;

/**
 * Records of threads, wherever they are kept.
 *
 * A write is durable when it is answered. It happens as a whole; where a store cannot do that
 * (DynamoDB), one happens after the other in each thread, and a crash leaves a part: `content` first,
 * then the other changes in their order, neighbours whose keys are alike up to the first slash side by
 * side, and the last change of all by itself. Writing the same again changes nothing, so a write that
 * failed may be tried again. A thread that was never written reads as an empty one.
 */
export interface ThreadRecords extends AsyncDisposable {
  /** @throws USAGE_INVALID, STORE_FULL, STORE_FAILED, STORE_UNREACHABLE */
  write(
    thread: string,
    changes: readonly Change[],
    conditions?: WriteConditions,
  ): Promise<WriteResult>;

  /** Returns the values of the keys that are there. */
  read(thread: string, keys: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;

  /** Returns records in the order of their keys. */
  scan(thread: string, options: ScanOptions): Promise<readonly ThreadRecord[]>;

  /** Returns a number that each write makes greater: zero where there was none. */
  revision(thread: string): Promise<number>;

  /** Returns the names of threads above `after`, in the order of their bytes, at most `limit`. */
  threads(options: { after?: string; limit: number }): Promise<readonly string[]>;

  /** Removes all records of the thread; succeeds where there is none. */
  deleteThread(thread: string): Promise<void>;
}
