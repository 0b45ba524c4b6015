import process from "node:process";
import { afterEach, expect, test } from "vitest";
import { trackingFromEnvironment } from "./tracking-settings.ts";

const MEBIBYTE = 1024 ** 2;
const NAMES = ["WAYPOINT_TRACK_MEMORY", "WAYPOINT_TRACK_AHEAD", "WAYPOINT_COMPARE_MEMORY"] as const;

function settingsOf(memory?: string, ahead?: string, compare?: string) {
  const values = [memory, ahead, compare];
  NAMES.forEach((name, at) => {
    const value = values[at];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  });
  return trackingFromEnvironment().trackMemory;
}

afterEach(() => settingsOf());

test("writes are followed, and much memory is copied ahead, unless somebody says otherwise", () => {
  const usual = { bytesMin: 8 * MEBIBYTE, aheadBytesMin: 128 * MEBIBYTE, compares: false };
  expect(settingsOf()).toEqual(usual);
  expect(settingsOf("", "")).toEqual(usual);
  expect(settingsOf("on", "on")).toEqual(usual);
  expect(settingsOf("0")).toMatchObject({ bytesMin: 0, aheadBytesMin: 128 * MEBIBYTE });
  expect(settingsOf("1000000000")).toMatchObject({ aheadBytesMin: 1_000_000_000 });
});

test("off, and what is no size, follows nothing; nothing is copied ahead where that is off", () => {
  for (const word of ["off", "no", "-1", "1.5"]) expect(settingsOf(word)).toBe(undefined);
  expect(settingsOf("on", "off")?.aheadBytesMin).toBe(Number.POSITIVE_INFINITY);
});

test("what is compared with a second copy is copied ahead however small it is", () => {
  expect(settingsOf("0", "on", "on")).toEqual({ bytesMin: 0, aheadBytesMin: 0, compares: true });
});
