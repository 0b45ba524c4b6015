/** One change of a record. A key is printable ASCII, at most 1,024 characters; order is that of bytes. */
export interface Change {
  key: string;
  /** What stands there from now on, at most {@link VALUE_BYTES_MAX}; null removes the record. */
  value: Uint8Array | null;
  /**
   * What to do where the key is there: `replace` it, keep the `first` and say so, or keep either,
   * since the key names the `content`. @defaultValue "replace"
   */
  mode?: "replace" | "first" | "content";
}

/** What has to be true in the moment of a write; else nothing is written. */
export interface WriteConditions {
  /** This record is there. */
  requires?: string;
  /** Nobody has written the thread since {@link ThreadRecords.revision} was this. */
  ifRevision?: number;
}

export interface WriteResult {
  /** False where a condition did not hold: nothing was written. */
  isDone: boolean;
  /** Keys of `first` that were there before, and stayed as they were. */
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

/**
 * Records of threads, wherever they are kept.
 *
 * A write is durable when it is answered. It happens as a whole; where a store cannot do that
 * (DynamoDB), its changes happen in their order, and a crash leaves the first of them at most. Writing
 * the same again changes nothing, so a write that failed may be tried again. A thread that was never
 * written reads as an empty one.
 */
export interface ThreadRecords extends AsyncDisposable {
  /** @throws STORE_FULL, STORE_FAILED, STORE_UNREACHABLE */
  write(
    thread: string,
    changes: readonly Change[],
    conditions?: WriteConditions,
  ): Promise<WriteResult>;

  /** Returns the values of the keys that are there. */
  read(thread: string, keys: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;

  /** Returns records in the order of their keys. */
  scan(thread: string, options: ScanOptions): Promise<readonly ThreadRecord[]>;

  /** Returns how often the thread was written: zero where it never was. */
  revision(thread: string): Promise<number>;

  /** Returns the names of threads above `after`, in the order of their bytes, at most `limit`. */
  threads(options: { after?: string; limit: number }): Promise<readonly string[]>;

  /** Removes all records of the thread; succeeds where there is none. */
  deleteThread(thread: string): Promise<void>;
}
