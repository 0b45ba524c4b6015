import { expect, test } from "vitest";
import { parseMomentPlace, parsePlace } from "./parse-place.ts";

test.each([
  ["web:/etc/hosts", "web", "/etc/hosts"],
  ["web@~2:a:b", "web@~2", "a:b"],
  ["web:", "web", ""],
  ["./web:x", undefined, "./web:x"],
  ["/srv/a:b", undefined, "/srv/a:b"],
  ["plain", undefined, "plain"],
])("%s", (text, moment, path) => {
  const place = parsePlace(text);

  expect(place.moment).toBe(moment);
  expect(Buffer.from(place.path as Uint8Array).toString()).toBe(path);
});

test("a path of this machine has no moment to read it at", () => {
  expect(() => parseMomentPlace("./x")).toThrow("names no moment");
  expect(() => parseMomentPlace(":x")).toThrow("names no moment");
});
