import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { policyOf } from "../../portable/approvals/index.ts";
import { policyText } from "./read-policy.ts";

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-policy-"));
  file = path.join(directory, "policy");
});

afterEach(() => rmSync(directory, { recursive: true }));

test("off, default and JSON are taken as they are, a file as what it has", () => {
  expect(["off", "default", '{"commands": []}'].map(policyText)).toEqual([
    ...["off", "default", '{"commands": []}'],
  ]);
  writeFileSync(file, '{"defaults": false}');
  expect(policyText(file)).toBe('{"defaults": false}');
});

test("a pipe, a device, a folder, and what is too long or no text are refused, and none is waited for", () => {
  const refused = (message: RegExp) =>
    expect(() => policyText(file)).toThrow(
      expect.objectContaining({ code: "USAGE_INVALID", message: expect.stringMatching(message) }),
    );
  refused(/cannot be read/);
  execFileSync("mkfifo", [file]);
  refused(/is no file/);
  rmSync(file);
  symlinkSync("/dev/zero", file);
  refused(/is no file/);
  rmSync(file);
  mkdirSync(file);
  refused(/is no file/);
  rmSync(file, { recursive: true });
  writeFileSync(file, " ".repeat(65_537));
  refused(/more than 64 KiB/);
  writeFileSync(file, Buffer.from([0xff, 0xfe]));
  refused(/is not UTF-8/);
});

test.each([
  ["[".repeat(60_000)],
  [`{"commands":${"[".repeat(30_000)}${"]".repeat(30_000)}}`],
  ['{"commands": [["git"], ["__proto__", 1]]}'],
  ['{"__proto__": {"defaults": false}, "x": 1}'],
  ['{"destinations": ["(a+)+$"]}'],
  ['{"commands": [["git push"]]}'],
  ['{"timeoutSeconds": 1e999}'],
  [JSON.stringify({ commands: Array.from({ length: 501 }, () => ["a"]) })],
  ["null"],
  ["\u0000"],
])("of what is no policy, %.40j, none is made", (text) => {
  expect(() => policyOf(text)).toThrow(expect.objectContaining({ code: "USAGE_INVALID" }));
});
