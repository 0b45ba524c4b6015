import { InvalidArgumentError } from "commander";

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const RELATIVE = /^(?:\d{1,6}[smhdw])+$/;
const PART = /(\d+)([smhdw])/g;
const CLOCK = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/;
const LOCAL = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?)?$/;
const ZONED = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/;

/** Which instant of a stretch of time is meant: of a day, or of a minute. */
export type Edge = "first" | "last";

/** Returns the instant from which on checkpoints are shown. */
export function parseSince(text: string): string {
  return parseInstant(text, Date.now(), "first");
}

/** Returns the instant until which checkpoints are shown. */
export function parseUntil(text: string): string {
  return parseInstant(text, Date.now(), "last");
}

/**
 * Returns the instant that a person means: "2h" (ago), "1h30m ago", "yesterday", "09:58" of today,
 * "2026-03-04", "2026-03-04 09:58", or an instant as Waypoint prints them; in local time.
 */
export function parseInstant(text: string, nowMs: number, edge: Edge): string {
  const word = text.trim().toLowerCase();
  const instant =
    ago(word.replace(/\s*ago$/, "").replaceAll(" ", ""), nowMs) ??
    byName(word, nowMs, edge) ??
    byClock(word, nowMs, edge) ??
    byDate(text.trim(), edge) ??
    Number.NaN;
  if (Number.isNaN(instant)) {
    throw new InvalidArgumentError(
      "Give a time such as 2h, yesterday, 09:58, 2026-03-04 or 2026-03-04T09:58.",
    );
  }
  return new Date(Math.max(0, instant)).toISOString();
}

function ago(word: string, nowMs: number): number | null {
  if (!RELATIVE.test(word)) return null;
  const parts = [...word.matchAll(PART)];
  return parts.reduce((instant, [, count, unit]) => {
    return instant - Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  }, nowMs);
}

function byName(word: string, nowMs: number, edge: Edge): number | null {
  if (word === "now") return nowMs;
  const daysBack = word === "today" ? 0 : word === "yesterday" ? 1 : null;
  if (daysBack === null) return null;
  const now = new Date(nowMs);
  return dayOf(now.getFullYear(), now.getMonth(), now.getDate() - daysBack, edge);
}

function byClock(word: string, nowMs: number, edge: Edge): number | null {
  const [found, hours, minutes, seconds] = CLOCK.exec(word) ?? [];
  if (found === undefined) return null;
  const now = new Date(nowMs);
  const day = [now.getFullYear(), now.getMonth(), now.getDate()] as const;
  return timeOf(day, [hours, minutes, seconds], edge);
}

function byDate(text: string, edge: Edge): number | null {
  if (ZONED.test(text)) return Date.parse(text);
  const [found, year, month, day, ...time] = LOCAL.exec(text) ?? [];
  if (found === undefined) return null;
  const date = [Number(year), Number(month) - 1, Number(day)] as const;
  const start = new Date(...date);
  // JavaScript takes the 31st of February for a day in March.
  if (start.getMonth() !== date[1] || start.getDate() !== date[2]) return Number.NaN;
  return time[0] === undefined ? dayOf(...date, edge) : timeOf(date, time, edge);
}

function dayOf(year: number, month: number, day: number, edge: Edge): number {
  if (edge === "first") return new Date(year, month, day).getTime();
  return new Date(year, month, day + 1).getTime() - 1;
}

function timeOf(
  date: readonly [number, number, number],
  [hours, minutes, seconds]: readonly (string | undefined)[],
  edge: Edge,
): number {
  const [hour, minute, second] = [hours, minutes, seconds ?? "0"].map(Number);
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return Number.NaN;
  const start = new Date(...date, hour, minute, second).getTime();
  const lastsMs = seconds === undefined ? UNIT_MS.m : UNIT_MS.s;
  return edge === "first" ? start : start + lastsMs - 1;
}
