/** More of a name than this is not what somebody mistyped. */
const LENGTH_MAX = 128;
/** So many are offered. */
const OFFERED_MAX = 3;

/**
 * Returns the names that may have been meant by one that does not exist, nearest first, at most
 * three; none where none is near.
 *
 * Near is: one letter in three is another one, missing or too much, or stands beside its place; or
 * the name begins with what was typed, or the other way round, from three letters on.
 */
export function nearestNames(typed: string, names: Iterable<string>): string[] {
  if (typed === "" || typed.length > LENGTH_MAX) return [];
  const wanted = typed.toLowerCase();
  const distanceMax = Math.max(1, Math.floor(wanted.length / 3));
  const near = new Map<string, number>();
  for (const name of names) {
    const distance = isBeginning(wanted, name.toLowerCase())
      ? Math.abs(wanted.length - name.length) / LENGTH_MAX
      : distanceBetween(wanted, name.toLowerCase(), distanceMax);
    if (distance <= distanceMax) near.set(name, distance);
  }
  const sorted = [...near].sort(([a, one], [b, other]) => one - other || (a < b ? -1 : 1));
  return sorted.slice(0, OFFERED_MAX).map(([name]) => name);
}

/** Returns "Did you mean web?", or an empty text where no name is near. */
export function didYouMean(typed: string, names: Iterable<string>): string {
  const near = nearestNames(typed, names);
  if (near.length === 0) return "";
  const others = near.slice(0, -1).join(", ");
  return `Did you mean ${others === "" ? "" : `${others} or `}${near.at(-1)}?`;
}

function isBeginning(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.length >= 3 && long.startsWith(short);
}

/** The edits between two words, of which a swap of two neighbours is one; more than `max` is more. */
function distanceBetween(one: string, other: string, max: number): number {
  if (Math.abs(one.length - other.length) > max) return max + 1;
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      let edits = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwapped) edits = Math.min(edits, (before[column - 2] ?? 0) + 1);
      current.push(edits);
    }
    [before, above] = [above, current];
  }
  return above.at(-1) ?? max + 1;
}
