const SHORT_ID_LENGTH_MIN = 6;

/** Returns for each id its shortest beginning that no other one has. */
export function shortenIds(ids: readonly string[]): Map<string, string> {
  const sorted = ids.toSorted();
  return new Map(
    sorted.map((id, index) => {
      const shared = Math.max(
        commonLength(id, sorted[index - 1] ?? ""),
        commonLength(id, sorted[index + 1] ?? ""),
      );
      return [id, id.slice(0, Math.max(SHORT_ID_LENGTH_MIN, shared + 1))];
    }),
  );
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
