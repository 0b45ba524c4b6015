import fc from "fast-check";
import { expect, test } from "vitest";
import { roundsMax, Search } from "./search.ts";

/** Searches a path on which everything from `firstBad` on is bad; returns how many rounds it took. */
function run(options: {
  length: number;
  firstBad: number;
  concurrency: number;
  skipped?: ReadonlySet<number>;
}): { rounds: number; tested: number[]; search: Search } {
  const { length, firstBad, concurrency, skipped = new Set() } = options;
  const search = new Search(length);
  const tested: number[] = [];
  let rounds = 0;
  for (
    let places = search.next(concurrency);
    places.length > 0;
    places = search.next(concurrency)
  ) {
    rounds += 1;
    for (const place of places) {
      tested.push(place);
      search.note(place, skipped.has(place) ? "skip" : place >= firstBad ? "bad" : "good");
    }
  }
  return { rounds, tested, search };
}

const path = fc.integer({ min: 2, max: 400 }).chain((length) =>
  fc.record({
    length: fc.constant(length),
    firstBad: fc.integer({ min: 1, max: length - 1 }),
    concurrency: fc.integer({ min: 1, max: 16 }),
  }),
);

test("it finds the first bad place in at most the rounds that are promised", () => {
  fc.assert(
    fc.property(path, (given) => {
      const { rounds, search } = run(given);
      expect(search.candidates).toEqual([given.firstBad]);
      const base = given.concurrency + 1;
      expect(rounds).toBeLessThanOrEqual(roundsMax(given.length - 1, given.concurrency));
      // ceil(log_base(n)) without the rounding of logarithms.
      expect(base ** roundsMax(given.length - 1, given.concurrency)).toBeGreaterThanOrEqual(
        given.length - 1,
      );
    }),
  );
});

test("no place is tried twice, and none outside of what is open", () => {
  fc.assert(
    fc.property(path, (given) => {
      const { tested } = run(given);
      expect(new Set(tested).size).toBe(tested.length);
      for (const place of tested) expect(place > 0 && place < given.length - 1).toBe(true);
    }),
  );
});

test("64 checkpoints take six rounds, three at once three, and 63 at once one", () => {
  expect([1, 3, 63].map((concurrency) => roundsMax(64, concurrency))).toEqual([6, 3, 1]);
  expect(roundsMax(1, 1)).toBe(0);
});

test("with skipped places the answer is one of several, and the right one is among them", () => {
  const withSkips = path.chain((given) =>
    fc.record({
      given: fc.constant(given),
      skipped: fc.uniqueArray(fc.integer({ min: 1, max: Math.max(1, given.length - 2) })),
    }),
  );
  fc.assert(
    fc.property(withSkips, ({ given, skipped }) => {
      const { search } = run({ ...given, skipped: new Set(skipped) });
      const { candidates } = search;
      expect(candidates).toContain(given.firstBad);
      for (const place of candidates.slice(0, -1)) expect(skipped).toContain(place);
    }),
  );
});

test("a place that is gone is neither tried nor part of the answer", () => {
  const search = new Search(4);
  search.remove(1);

  expect(search.next(3)).toEqual([2]);
  search.note(2, "bad");

  expect(search.candidates).toEqual([2]);
  expect(search.good).toBe(0);
});

test("a result that comes too late changes nothing", () => {
  const search = new Search(10);
  search.note(5, "bad");
  search.note(7, "good");
  search.note(2, "good");
  search.note(1, "bad");

  expect([search.good, search.bad]).toEqual([2, 5]);
});
