import { expect, test } from "vitest";
import { displayWidth, pad, truncate, wrap } from "./display-width.ts";
import { printable, printableLines } from "./printable.ts";
import { formatAge, formatDuration, formatSize } from "./quantities.ts";
import { paintFor } from "./style.ts";
import { layoutTable } from "./table.ts";

test("escape sequences and overrides from a session are shown, not obeyed", () => {
  expect(printable("a\u001b[2Jb\r\n\u009b1m\u202ec\u007f")).toBe("a␛[2Jb␍␊�1m�c␡");
  expect(printable("žluť 日本 🙂")).toBe("žluť 日本 🙂");
  expect(printableLines("a\tb\n\u001bc")).toBe("a\tb\n␛c");
});

test("widths count columns, not characters", () => {
  expect(displayWidth("abc")).toBe(3);
  expect(displayWidth("日本")).toBe(4);
  expect(displayWidth("e\u0301")).toBe(1);
  expect(displayWidth("🙂")).toBe(2);
  expect(displayWidth("\u001b[1mbold\u001b[22m")).toBe(4);
});

test("text is cut at columns and filled up to them", () => {
  expect(truncate("checkpoint", 6)).toBe("check…");
  expect(truncate("日本語", 4)).toBe("日…");
  expect(truncate("short", 10)).toBe("short");
  expect(pad("7", 3, "right")).toBe("  7");
  expect(truncate("\u001b[1mcheckpoint\u001b[22m x", 6)).toBe("\u001b[1mcheck…\u001b[22m");
  expect(wrap("put back to a checkpoint", 8)).toEqual(["put back", "to a", "checkpo…"]);
});

test("ages, durations and sizes are short", () => {
  const nowMs = Date.parse("2026-01-02T00:00:00.000Z");

  expect(formatAge("2026-01-01T23:59:48.000Z", nowMs)).toBe("12s");
  expect(formatAge("2026-01-01T20:00:00.000Z", nowMs)).toBe("4h");
  expect(formatAge("2025-12-23T00:00:00.000Z", nowMs)).toBe("10d");
  expect([8.44, 41, 1250, 200_000].map(formatDuration)).toEqual([
    "8.4 ms",
    "41 ms",
    "1.25 s",
    "3 min 20 s",
  ]);
  expect([0, 1536, 300 * 1024 * 1024].map(formatSize)).toEqual(["0 B", "1.5 KiB", "300 MiB"]);
});

test("a table is aligned, numbers on the right", () => {
  const columns = [{ title: "NAME" }, { title: "PID", align: "right" as const }];

  expect(
    layoutTable(columns, [
      ["日本", "7"],
      ["web", "4121"],
    ]),
  ).toEqual(["NAME   PID", "日本     7", "web   4121"]);
});

test("colours need a terminal that wants them", () => {
  const terminal = { isTTY: true };

  expect(paintFor(terminal, {})("red", "x")).toBe("\u001b[31mx\u001b[39m");
  expect(paintFor(terminal, { NO_COLOR: "1" })("red", "x")).toBe("x");
  expect(paintFor(terminal, { TERM: "dumb" })("red", "x")).toBe("x");
  expect(paintFor({ isTTY: false }, {})("red", "x")).toBe("x");
});
