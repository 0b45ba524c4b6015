import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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
  verdictOf,
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

test("the last line counts what was flaky, and more than two fail the gate", () => {
  const total = { passed: 7, failed: 0, skipped: 0, flaky: 0 };

  expect(verdictOf(total)).toEqual({ isOk: true, text: "7 passed, 0 failed\n" });
  expect(verdictOf({ ...total, flaky: 2 })).toEqual({
    isOk: true,
    text: "7 passed, 0 failed, 2 flaky\n",
  });
  expect(verdictOf({ ...total, flaky: 3 })).toEqual({
    isOk: false,
    text: "FAILED more than 2 tests needed another try\n7 passed, 1 failed, 3 flaky\n",
  });
  expect(verdictOf({ ...total, failed: 1 }).isOk).toBe(false);
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

/** Fails at its first try, and leaves a file at each. */
const FLAKY_FILE = `
import { existsSync, writeFileSync } from "node:fs";
import { test } from "vitest";
const number = existsSync("tried") ? 2 : 1;
test("steady", () => {});
test("flaky", () => {
  writeFileSync(process.env.TMPDIR + "/of-try-" + number, "");
  writeFileSync("tried", "");
  if (number === 1) throw new Error("at first");
});
`;

test("what passes at another try is flaky, and what the last try leaves fails the gate", async () => {
  const rootDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-flaky-"));
  try {
    symlinkSync(path.resolve("node_modules"), path.join(rootDir, "node_modules"));
    writeFileSync(path.join(rootDir, "some.test.js"), FLAKY_FILE);
    const config = { test: { projects: [{ test: { name: "some", include: ["*.test.js"] } }] } };
    const text = `export default ${JSON.stringify(config)}`;
    writeFileSync(path.join(rootDir, "vitest.config.mjs"), text);
    const workDir = path.join(rootDir, "work");
    mkdirSync(workDir);

    const limits = { timeoutMs: 60_000, triesMax: 3, isCi: true, endingMsMax: 0 };
    const program = `import { runTests } from "${path.resolve("scripts/check/run-tests.mjs")}";
      const result = await runTests("some", ${JSON.stringify({ rootDir, workDir, ...limits })});
      process.stdout.write(JSON.stringify(result));`;
    const argv = ["--input-type=module", "--eval", program];
    const { stdout } = await promisify(execFile)(process.execPath, argv);

    expect(JSON.parse(stdout)).toMatchObject({
      isOk: false,
      counts: { passed: 2, failed: 1, skipped: 0, flaky: 1 },
      told: expect.stringMatching(/flaky\n +Error: at first\n[\s\S]*Left behind: file of-try-2\n/),
    });
  } finally {
    rmSync(rootDir, { recursive: true });
  }
}, 120_000);

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
