import { expect, test } from "vitest";
import { KNOWN_TOKENS } from "../../shared/secrets/index.ts";
import { redactFromEnvironment } from "./redact-settings.ts";

test("known forms are always taken out, a pattern beside them, and off means none", () => {
  expect(redactFromEnvironment({})).toEqual(KNOWN_TOKENS);
  expect(redactFromEnvironment({ WAYPOINT_REDACT: "corp-\\d+" })).toEqual([
    ...KNOWN_TOKENS,
    /corp-\d+/g,
  ]);
  expect(redactFromEnvironment({ WAYPOINT_REDACT: "off" })).toEqual([]);
});

test("what is no regular expression keeps the daemon from starting", () => {
  expect(() => redactFromEnvironment({ WAYPOINT_REDACT: "(" })).toThrow(
    expect.objectContaining({ code: "USAGE_INVALID" }),
  );
});
