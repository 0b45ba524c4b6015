import { readFileSync } from "node:fs";

/** More of them in one run, and passing says little. */
const FLAKY_MAX = 2;

/** What the tests of a run have come to; a stage that failed counts as one failure. */
export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
  /** Passed, but not at the first try. */
  flaky: number;
}

/** What is read of vitest's report. */
export interface TestReport {
  testResults: {
    /** Path of the file. */
    name: string;
    status: string;
    /** Milliseconds since 1970. */
    startTime?: number;
    endTime?: number;
    assertionResults: { status: string; fullName?: string }[];
  }[];
}

/** Returns vitest's report, or `undefined` when vitest itself did not get that far. */
export function readReport(path: string): TestReport | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as TestReport;
  } catch {
    return undefined;
  }
}

/** Counts the tests; a file that could not even be loaded counts as one failed test. */
export function countTests(report: TestReport | undefined) {
  const files = report?.testResults ?? [];
  const tests = files.flatMap(({ assertionResults }) => assertionResults);
  const count = (...wanted: string[]) =>
    tests.filter(({ status }) => wanted.includes(status)).length;
  const broken = files.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  );
  return {
    passed: count("passed"),
    failed: count("failed") + broken.length,
    skipped: count("skipped", "pending", "todo"),
  };
}

/** Returns the paths of the files in which something failed. */
export function failedFiles(report: TestReport | undefined): string[] {
  return (report?.testResults ?? [])
    .filter(({ status }) => status === "failed")
    .map(({ name }) => name);
}

/**
 * Counts what failed in a run, and no more in a later one of the same file: tests, and files that could
 * not be loaded.
 */
export function countFlaky(report: TestReport, later: TestReport): number {
  const again = new Map(later.testResults.map((file) => [file.name, file]));
  const failures = report.testResults.flatMap(({ name, status, assertionResults }) => {
    const last = again.get(name);
    if (status !== "failed" || last === undefined) return [];
    const failed = assertionResults.filter((test) => test.status === "failed");
    if (failed.length === 0) return [last.status];
    return failed.map(({ fullName }) => {
      const same = last.assertionResults.find((test) => test.fullName === fullName);
      return same?.status ?? last.status;
    });
  });
  return failures.filter((status) => status === "passed").length;
}

/** Returns the files that took longest, longest first. */
export function slowestFiles(report: TestReport | undefined, count: number) {
  return (report?.testResults ?? [])
    .map(({ name, startTime = 0, endTime = 0 }) => ({ name, tookMs: endTime - startTime }))
    .toSorted((one, other) => other.tookMs - one.tookMs)
    .slice(0, count);
}

/** Returns a report in which files that were run again have the results of their last run. */
export function withLaterRun(report: TestReport, later: TestReport): TestReport {
  const again = new Map(later.testResults.map((file) => [file.name, file]));
  return { testResults: report.testResults.map((file) => again.get(file.name) ?? file) };
}

/** Returns whether the gate has passed, and the lines to end with: the last one counts all tests. */
export function verdictOf(total: TestCounts): { isOk: boolean; text: string } {
  const isTooFlaky = total.flaky > FLAKY_MAX;
  const failed = total.failed + (isTooFlaky ? 1 : 0);
  const counts = [`${total.passed} passed`, `${failed} failed`];
  if (total.flaky > 0) counts.push(`${total.flaky} flaky`);
  if (total.skipped > 0) counts.push(`${total.skipped} skipped`);
  const why = isTooFlaky ? `FAILED more than ${FLAKY_MAX} tests needed another try\n` : "";
  return { isOk: failed === 0, text: `${why}${counts.join(", ")}\n` };
}
