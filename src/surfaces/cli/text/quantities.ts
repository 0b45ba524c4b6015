const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const SIZE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** Returns how long ago `instant` was: "12s", "5m", "3h", "4d". */
export function formatAge(instant: string, nowMs: number): string {
  const ageMs = Math.max(0, nowMs - Date.parse(instant));
  if (ageMs < MINUTE_MS) return `${Math.floor(ageMs / SECOND_MS)}s`;
  if (ageMs < HOUR_MS) return `${Math.floor(ageMs / MINUTE_MS)}m`;
  if (ageMs < 2 * DAY_MS) return `${Math.floor(ageMs / HOUR_MS)}h`;
  return `${Math.floor(ageMs / DAY_MS)}d`;
}

/** Returns a duration that a person can compare: "8 ms", "1.25 s", "3 min 20 s". */
export function formatDuration(durationMs: number): string {
  if (durationMs < 10) return `${Number(durationMs.toFixed(1))} ms`;
  if (durationMs < SECOND_MS) return `${Math.round(durationMs)} ms`;
  if (durationMs < MINUTE_MS) return `${Number((durationMs / SECOND_MS).toFixed(2))} s`;
  const minutes = Math.floor(durationMs / MINUTE_MS);
  return `${minutes} min ${Math.round((durationMs % MINUTE_MS) / SECOND_MS)} s`;
}

/** Returns a size with a binary unit: "512 B", "34.2 MiB". */
export function formatSize(sizeBytes: number): string {
  let value = sizeBytes;
  let unit = 0;
  while (value >= 1024 && unit < SIZE_UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${SIZE_UNITS[unit]}`;
}

/** Returns a count with commas: "4,096". Node's own way loads the words of all languages first. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Returns the local time of day, with the day in front if that is not today. */
export function formatClock(instant: string, nowMs: number): string {
  const at = new Date(instant);
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join(":");
  const isToday = formatDay(at.getTime()) === formatDay(nowMs);
  return isToday ? time : `${formatDay(at.getTime())} ${time}`;
}

/** Returns the local time of day to the minute: "09:58". */
export function formatMinute(instant: string): string {
  const at = new Date(instant);
  return [at.getHours(), at.getMinutes()].map(twoDigits).join(":");
}

/** Returns the local day: "2026-03-04". */
export function formatDay(atMs: number): string {
  const at = new Date(atMs);
  return [at.getFullYear(), twoDigits(at.getMonth() + 1), twoDigits(at.getDate())].join("-");
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
