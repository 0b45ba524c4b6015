/**
 * Awaits all of `work` and returns the values; when some fail, throws the first failure, but only
 * after every other one has settled, so that what they made can be undone.
 */
export async function settleAll<T extends readonly unknown[]>(
  work: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  const outcomes: PromiseSettledResult<unknown>[] = await Promise.allSettled(work);
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (failure !== undefined) throw failure.reason;
  return outcomes.map(
    (outcome) => (outcome as PromiseFulfilledResult<unknown>).value,
  ) as unknown as T;
}
