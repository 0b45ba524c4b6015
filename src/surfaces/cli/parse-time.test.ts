import { afterAll, beforeAll, expect, test } from "vitest";
import { parseInstant } from "./parse-time.ts";

const NOW_MS = Date.parse("2026-03-04T15:30:20.500Z");
const zone = process.env["TZ"];

beforeAll(() => {
  process.env["TZ"] = "UTC";
});

afterAll(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

function since(text: string): string {
  return parseInstant(text, NOW_MS, "first");
}

function until(text: string): string {
  return parseInstant(text, NOW_MS, "last");
}

test("a stretch of time is one that has passed", () => {
  expect(since("2h")).toBe("2026-03-04T13:30:20.500Z");
  expect(since("1h30m")).toBe("2026-03-04T14:00:20.500Z");
  expect(since("90s ago")).toBe("2026-03-04T15:28:50.500Z");
  expect(since("3d")).toBe("2026-03-01T15:30:20.500Z");
  expect(until("1w")).toBe("2026-02-25T15:30:20.500Z");
  expect(since("999999w")).toBe("1970-01-01T00:00:00.000Z");
  expect(until("now")).toBe("2026-03-04T15:30:20.500Z");
});

test("a day and a minute begin for since and end for until", () => {
  expect(since("yesterday")).toBe("2026-03-03T00:00:00.000Z");
  expect(until("yesterday")).toBe("2026-03-03T23:59:59.999Z");
  expect(since("Today")).toBe("2026-03-04T00:00:00.000Z");
  expect(since("09:58")).toBe("2026-03-04T09:58:00.000Z");
  expect(until("09:58")).toBe("2026-03-04T09:58:59.999Z");
  expect(until("9:58:07")).toBe("2026-03-04T09:58:07.999Z");
  expect(since("2026-02-28")).toBe("2026-02-28T00:00:00.000Z");
  expect(until("2026-02-28")).toBe("2026-02-28T23:59:59.999Z");
  expect(since("2026-02-28 10:14")).toBe("2026-02-28T10:14:00.000Z");
  expect(until("2026-02-28T10:14:02")).toBe("2026-02-28T10:14:02.999Z");
});

test("days are those of the reader's own time", () => {
  process.env["TZ"] = "Asia/Tokyo";

  expect(since("today")).toBe("2026-03-04T15:00:00.000Z");
  expect(since("2026-03-05T00:10")).toBe("2026-03-04T15:10:00.000Z");
  expect(since("2026-03-04T09:58:00Z")).toBe("2026-03-04T09:58:00.000Z");
  expect(since("2026-03-04T09:58:00.25+02:00")).toBe("2026-03-04T07:58:00.250Z");
  process.env["TZ"] = "UTC";
});

test("what is no time is refused with examples", () => {
  const wrong = ["", "h", "2x", "25:00", "09:60", "2026-02-30", "2026-13-01", "tomorrow"];

  for (const text of wrong) expect(() => since(text), text).toThrow("Give a time such as 2h");
});
