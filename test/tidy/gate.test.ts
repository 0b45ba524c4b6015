import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { lookAround } from "../../scripts/check/left-behind.ts";
import {
  countFlaky,
  countTests,
  failedFiles,
  slowestFiles,
  withLaterRun,
} from "../../scripts/check/test-report.ts";

const passed = { status: "passed" };
const failed = { status: "failed" };

test("a file that was run again counts as it was the last time", () => {
  const first = {
    testResults: [
      { name: "a", status: "passed", assertionResults: [passed, { status: "skipped" }] },
      { name: "b", status: "failed", assertionResults: [passed, failed] },
    ],
  };
  const again = {
    testResults: [{ name: "b", status: "passed", assertionResults: [passed, passed] }],
  };

  expect(failedFiles(first)).toEqual(["b"]);
  expect(countTests(first)).toEqual({ passed: 2, failed: 1, skipped: 1 });
  const last = withLaterRun(first, again);
  expect(failedFiles(last)).toEqual([]);
  expect(countTests(last)).toEqual({ passed: 3, failed: 0, skipped: 1 });
});

test("what failed and then passed is flaky", () => {
  const one = { fullName: "one" };
  const two = { fullName: "two" };
  const first = {
    testResults: [
      { name: "a", status: "passed", assertionResults: [passed] },
      {
        name: "b",
        status: "failed",
        assertionResults: [
          { ...one, ...failed },
          { ...two, ...failed },
        ],
      },
      { name: "c", status: "failed", assertionResults: [] },
    ],
  };
  const again = {
    testResults: [
      {
        name: "b",
        status: "failed",
        assertionResults: [
          { ...one, ...passed },
          { ...two, ...failed },
        ],
      },
      { name: "c", status: "passed", assertionResults: [passed] },
    ],
  };

  expect(countFlaky(first, again)).toBe(2);
  expect(countFlaky(first, first)).toBe(0);
});

test("the files that took longest are told first", () => {
  const file = (name: string, endTime: number) => ({
    ...{ name, status: "passed", startTime: 1000, endTime, assertionResults: [passed] },
  });
  const report = { testResults: [file("a", 1500), file("b", 3000), file("c", 2000)] };

  expect(slowestFiles(report, 2)).toEqual([
    { name: "b", tookMs: 2000 },
    { name: "c", tookMs: 1000 },
  ]);
  expect(slowestFiles(undefined, 2)).toEqual([]);
});

test("a file that could not be loaded is one failed test", () => {
  const report = { testResults: [{ name: "a", status: "failed", assertionResults: [] }] };

  expect(countTests(report)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  expect(countTests(undefined)).toEqual({ passed: 0, failed: 0, skipped: 0 });
});

test("files that tests have left are found", () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-left-"));
  try {
    expect(lookAround(directory)).toEqual([]);
    writeFileSync(path.join(directory, "kept"), "");
    expect(lookAround(directory)).toEqual(["file kept"]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

const HANGING_FILE = `
import { beforeEach, describe, test } from "vitest";
test("passes", () => {});
describe("that share something", () => {
  beforeEach(() => new Promise(() => {}), 50);
  test("first", () => {});
  test("second", () => {});
});
`;

test("after a test that hangs, the others of its file fail at once", async () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-hang-"));
  try {
    symlinkSync(path.resolve("node_modules"), path.join(directory, "node_modules"));
    writeFileSync(path.join(directory, "hangs.test.js"), HANGING_FILE);
    const setupFiles = [path.resolve("test/support/after-a-hang.ts")];
    const config = `export default ${JSON.stringify({ test: { setupFiles } })}`;
    writeFileSync(path.join(directory, "vitest.config.mjs"), config);

    const argv = [path.resolve("node_modules/vitest/vitest.mjs"), "run", "--reporter", "json"];
    argv.push("--outputFile.json", path.join(directory, "report.json"));
    const run = promisify(execFile)(process.execPath, argv, { cwd: directory });
    await expect(run).rejects.toMatchObject({ code: 1 });

    const report = readFileSync(path.join(directory, "report.json"), "utf8");
    const { testResults } = JSON.parse(report) as { testResults: HangReport[] };
    const told = testResults[0]?.assertionResults.map(({ failureMessages }) => failureMessages[0]);
    expect(told).toEqual([
      undefined,
      expect.stringContaining("Hook timed out in 50ms"),
      expect.stringContaining("not tried, since this hung: first"),
    ]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

interface HangReport {
  assertionResults: { failureMessages: string[] }[];
}
