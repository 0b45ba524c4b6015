/**
 * Gives a record its end, for `await using`. It is no part of what the record says: nobody finds it by
 * listing, comparing or printing.
 */
export function disposable<T extends object>(
  record: T,
  dispose: () => Promise<unknown>,
): T & AsyncDisposable {
  const value = async () => {
    await dispose();
  };
  return Object.defineProperty(record, Symbol.asyncDispose, { value }) as T & AsyncDisposable;
}
