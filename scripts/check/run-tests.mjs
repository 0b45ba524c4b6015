import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { failuresOf, shortName } from "./failures.mjs";
import { clearAway, leftBehind } from "./left-behind.ts";
import { runNode } from "./run-node.mjs";
import {
  countFlaky,
  countTests,
  failedFiles,
  readReport,
  slowestFiles,
  withLaterRun,
} from "./test-report.ts";

const ANYBODY_MAY_ENTER = 0o755;
const ANYBODY_MAY_WRITE = 0o1777;
const SLOWEST_FILES = 10;

/**
 * Runs a project of vitest.
 *
 * Its tests make their files below a directory of their own, which has to be empty afterwards.
 * Files in which a test failed are run again, whole and in a process of their own, `triesMax` times
 * in all: what a failed test leaves would spoil a second try of that test alone. What needed another
 * try is told and counted as flaky.
 *
 * @param {string} project
 * @param {{ rootDir: string, workDir: string, timeoutMs: number, triesMax: number,
 *   isCi: boolean, endingMsMax?: number }} options `workDir` is a directory of the gate's own;
 *   what is still there after the last run has `endingMsMax` to go
 * @returns {Promise<{ isOk: boolean, counts: { passed: number, failed: number, skipped: number,
 *   flaky: number }, durationMs: number, told: string }>} `told` is what to print below the stage's line
 */
export async function runTests(project, options) {
  const startedAtMs = performance.now();
  const { rootDir, workDir, triesMax, isCi } = options;
  const temporaryDir = makeTemporaryDir(workDir, project);
  const clear = () => clearAway(temporaryDir, join(rootDir, "bin", "waypoint"));
  const run = (files, number) => {
    const reportPath = join(workDir, `${project}-${number}.json`);
    // What failed beside others is tried by itself.
    const flags = number === 1 ? [] : ["--no-file-parallelism"];
    return runVitest(project, [...flags, ...files], { ...options, temporaryDir, reportPath });
  };

  const first = await run([], 1);
  const last = await runAgain(first, { run, clear, triesMax });
  const counts = { ...countTests(last.report), flaky: last.flaky };
  const wrong = isCi && counts.skipped > 0 ? [`In CI ${counts.skipped} tests were skipped.`] : [];
  // A test that failed may not have come to its clean-up; each further try began with none of that.
  const left = last.isOk ? await leftBehind(temporaryDir, options.endingMsMax) : [];
  wrong.push(...left.map((line) => `Left behind: ${line}`));
  clear();

  const isOk = last.isOk && wrong.length === 0;
  // A run that fails without a failed test (a crash, an unhandled error) counts as one failure.
  if (!isOk && counts.failed === 0) counts.failed = 1;
  const failures = last.isOk ? "" : failuresOf(last.report, last.output);
  const kept = first.isOk ? "" : keepOutput(project, rootDir, last);
  const told = [
    last.told,
    ...wrong.map((line) => `       ${line}\n`),
    ...[failures, kept],
    ...(project === "integration" ? slowestOf(first.report) : []),
  ].join("");
  return { isOk, counts, durationMs: performance.now() - startedAtMs, told };
}

/** Runs files again in which something failed, until all pass or there are no more tries. */
async function runAgain(first, { run, clear, triesMax }) {
  const last = { ...first, told: summaryOf(first.output), outputs: [first.output] };
  last.flaky = countRetries(first.output);
  for (let tries = 2; !last.isOk && tries <= triesMax; tries += 1) {
    const files = failedFiles(last.report);
    if (files.length === 0) break;
    last.told += `       Run again, each file as a whole, after this had failed:\n`;
    last.told += failuresOf(last.report, last.output);
    clear();
    const { isOk, output, report } = await run(files, tries);
    last.outputs.push(output);
    if (report === undefined) break;
    last.flaky += countFlaky(last.report, report);
    last.report = withLaterRun(last.report, report);
    last.isOk = isOk;
    last.output = output;
    last.told += summaryOf(output);
  }
  return last;
}

async function runVitest(project, more, { rootDir, temporaryDir, reportPath, timeoutMs, isCi }) {
  const argv = [
    ...["node_modules/vitest/vitest.mjs", "run", "--project", project, "--passWithNoTests"],
    ...["--reporter", "verbose", "--reporter", "json", "--outputFile.json", reportPath],
    ...more,
  ];
  const env = {
    TMPDIR: temporaryDir,
    // Node's own cache outlives whoever fills it.
    NODE_COMPILE_CACHE: join(dirname(temporaryDir), "compile-cache"),
    // Tests fail instead of skipping what this machine lacks (test/requires).
    ...(isCi ? { REQUIRE_ALL: "1" } : {}),
  };
  const { isOk, output } = await runNode(argv, { cwd: rootDir, timeoutMs, env });
  return { isOk, output, report: readReport(reportPath) };
}

/** Some tests are somebody else than root. */
function makeTemporaryDir(workDir, project) {
  const directory = join(workDir, project);
  chmodSync(workDir, ANYBODY_MAY_ENTER);
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, ANYBODY_MAY_WRITE);
  return directory;
}

function keepOutput(project, rootDir, { outputs }) {
  const logDir = join(rootDir, ".tools", "check");
  mkdirSync(logDir, { recursive: true });
  writeFileSync(join(logDir, `${project}.log`), outputs.join("\n"));
  return `       The whole output: .tools/check/${project}.log\n`;
}

/** vitest's own tries of a test that passed in the end. */
function countRetries(output) {
  return (output.match(/✓.*\(retry x\d+\)/g) ?? []).length;
}

function slowestOf(report) {
  const files = slowestFiles(report, SLOWEST_FILES).map(({ name, tookMs }) => {
    const seconds = `${(tookMs / 1000).toFixed(1)} s`.padStart(9);
    return `       ${seconds}  ${shortName(name)}\n`;
  });
  return files.length === 0 ? [] : ["       The slowest files:\n", ...files];
}

function summaryOf(output) {
  const isTold = /^\s*(Test Files|Tests)\s|\(retry x\d+\)/;
  const lines = output.split("\n").filter((line) => isTold.test(line));
  return lines.map((line) => `       ${line.trim()}\n`).join("");
}
