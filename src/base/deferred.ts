/** A promise that somebody else settles. */
export interface Deferred<T> {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (reason: unknown) => void;
}

/** Returns a promise with what settles it: Node has `Promise.withResolvers` from 22 on only. */
export function deferred<T>(): Deferred<T> {
  let settle: Omit<Deferred<T>, "promise"> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // The executor has run by now.
  return { promise, ...(settle as unknown as Omit<Deferred<T>, "promise">) };
}
