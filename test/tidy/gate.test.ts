import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { lookAround } from "../../scripts/check/left-behind.ts";
import { countTests, failedFiles, withLaterRun } from "../../scripts/check/test-report.ts";

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
