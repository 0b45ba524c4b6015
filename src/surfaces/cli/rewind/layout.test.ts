import fc from "fast-check";
import { expect, test } from "vitest";
import { DIVIDER_COLUMNS, GUTTER_COLUMNS, planLayout, windowOf } from "./layout.ts";

test("a wide terminal has the preview beside, a narrow one below, a tiny one nowhere", () => {
  expect(planLayout({ columns: 120, rows: 40 }).preview?.place).toBe("side");
  expect(planLayout({ columns: 80, rows: 24 }).preview?.place).toBe("below");
  expect(planLayout({ columns: 80, rows: 12 }).preview).toBeNull();
  expect(planLayout({ columns: 30, rows: 40 }).preview).toBeNull();
});

test("nothing is wider or higher than the terminal", () => {
  const size = fc.record({
    columns: fc.integer({ min: 3, max: 400 }),
    rows: fc.integer({ min: 4, max: 200 }),
  });
  fc.assert(
    fc.property(size, ({ columns, rows }) => {
      const { list, preview } = planLayout({ columns, rows });
      const side = preview?.place === "side" ? preview.columns + DIVIDER_COLUMNS : 0;
      const below = preview?.place === "below" ? preview.rows + 1 : 0;
      expect(list.columns + GUTTER_COLUMNS + side).toBeLessThanOrEqual(columns);
      expect(list.rows + below + 3).toBeLessThanOrEqual(rows);
      expect(list.rows).toBeGreaterThan(0);
    }),
  );
});

test("the selected line is always to be seen, and no room is left empty", () => {
  const given = fc.integer({ min: 1, max: 500 }).chain((count) =>
    fc.record({
      count: fc.constant(count),
      first: fc.integer({ min: 0, max: count - 1 }),
      rows: fc.integer({ min: 1, max: 60 }),
    }),
  );
  fc.assert(
    fc.property(given, ({ count, first, rows }) => {
      const { from, to } = windowOf(count, { first, count: 1 }, rows);
      expect(from <= first && first < to).toBe(true);
      expect(to - from).toBe(Math.min(rows, count));
    }),
  );
});
