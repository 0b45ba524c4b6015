// The one gate: types, format, lint, boundaries, dead code, generated documents, tests.
//
//   node scripts/check.mjs          everything; what `npm test` runs
//   node scripts/check.mjs --fast   without the integration tests and the zoo
//
// One line per stage. When tests fail, only what failed is told, so that a reader of a shortened
// output sees it first; the whole output is kept beside the tools. The last line counts all tests.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { failuresOf } from "./check/failures.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const STATIC_STAGES_AT_ONCE = Math.min(2, availableParallelism());
const STATIC_STAGE_TIMEOUT_MS = 5 * 60_000;
const UNIT_TIMEOUT_MS = 10 * 60_000;
const INTEGRATION_TIMEOUT_MS = 60 * 60_000;
const ZOO_TIMEOUT_MS = 60 * 60_000;
const OUTPUT_KEPT_CHARS_MAX = 400_000;

const isFast = process.argv.includes("--fast");
const isCi = /^(1|true)$/i.test(process.env.CI ?? "");
const reportDir = mkdtempSync(join(tmpdir(), "waypoint-check-"));
// Ends the children with this process: a test that lives on would keep its mounts and namespaces.
const running = new Set();
process.on("exit", () => {
  for (const child of running) child.kill("SIGTERM");
  rmSync(reportDir, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(130));

const staticStages = [
  { name: "types", argv: ["node_modules/ts7/bin/tsc", "--noEmit"] },
  {
    name: "format and lint",
    argv: ["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."],
  },
  { name: "type-aware lint", argv: ["node_modules/eslint/bin/eslint.js", "."] },
  {
    name: "boundaries",
    argv: [
      "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs",
      ...["--config", ".dependency-cruiser.mjs", "--output-type", "err-long"],
      ...["src", "test", "bench", "examples"],
    ],
  },
  { name: "dead code", argv: ["node_modules/knip/bin/knip.js", "--no-progress"] },
  { name: "generated documents", argv: ["scripts/docs.mjs", "--check"] },
];

const total = { passed: 0, failed: 0, skipped: 0 };

const results = await runSome(staticStages, STATIC_STAGES_AT_ONCE, (stage) =>
  runNode(stage.argv, STATIC_STAGE_TIMEOUT_MS),
);
for (const [index, result] of results.entries()) report(staticStages[index].name, result);

await runTests("unit", UNIT_TIMEOUT_MS);
if (!isFast) {
  await runTests("integration", INTEGRATION_TIMEOUT_MS);
  await runTests("zoo", ZOO_TIMEOUT_MS);
}

const counts = [`${total.passed} passed`, `${total.failed} failed`];
if (total.skipped > 0) counts.push(`${total.skipped} skipped`);
process.stdout.write(`${counts.join(", ")}\n`);
process.exitCode = total.failed > 0 ? 1 : 0;

/** Runs a vitest project, prints its summary and adds its tests to the total. */
async function runTests(project, timeoutMs) {
  const reportPath = join(reportDir, `${project}.json`);
  const result = await runNode(
    [
      ...["node_modules/vitest/vitest.mjs", "run", "--project", project, "--passWithNoTests"],
      ...["--reporter", "verbose", "--reporter", "json", "--outputFile.json", reportPath],
    ],
    timeoutMs,
  );
  const counted = countTests(reportPath);
  total.passed += counted.passed;
  total.skipped += counted.skipped;
  total.failed += counted.failed;
  const skipsInCi = isCi && counted.skipped > 0;
  const isOk = result.isOk && counted.failed === 0 && !skipsInCi;
  if (skipsInCi)
    result.output += `\nIn CI nothing may be skipped: ${counted.skipped} tests were.\n`;
  // A run that fails without a failed test (a crash, an unhandled error) counts as one failure.
  if (!isOk && counted.failed === 0) total.failed += 1;
  printLine(`${project} tests`, { ...result, isOk });
  process.stdout.write(summaryOf(result.output));
  if (!isOk) tellFailures(project, reportPath, result.output);
}

function tellFailures(project, reportPath, output) {
  process.stdout.write(failuresOf(readReport(reportPath), output));
  const logDir = join(ROOT, ".tools", "check");
  mkdirSync(logDir, { recursive: true });
  writeFileSync(join(logDir, `${project}.log`), output);
  process.stdout.write(`       The whole output: .tools/check/${project}.log\n`);
}

function report(name, result) {
  if (!result.isOk) total.failed += 1;
  printLine(name, result);
  if (!result.isOk) process.stdout.write(result.output);
}

function printLine(name, { isOk, durationMs }) {
  const seconds = `${(durationMs / 1000).toFixed(1)} s`;
  process.stdout.write(`${isOk ? "ok    " : "FAILED"} ${name.padEnd(20)} ${seconds.padStart(8)}\n`);
}

/** Reads vitest's report; a file that could not even be loaded counts as one failed test. */
function countTests(reportPath) {
  const vitestReport = readReport(reportPath);
  if (vitestReport === undefined) return { passed: 0, failed: 0, skipped: 0 };
  const brokenFiles = vitestReport.testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  );
  return {
    passed: vitestReport.numPassedTests,
    failed: vitestReport.numFailedTests + brokenFiles.length,
    skipped: vitestReport.numPendingTests + vitestReport.numTodoTests,
  };
}

/** The report is missing when vitest itself did not get that far. */
function readReport(reportPath) {
  try {
    return JSON.parse(readFileSync(reportPath, "utf8"));
  } catch {
    return undefined;
  }
}

function summaryOf(output) {
  const isTold = /^\s*(Test Files|Tests)\s|\(retry x\d+\)/;
  const lines = output.split("\n").filter((line) => isTold.test(line));
  return lines.map((line) => `       ${line.trim()}\n`).join("");
}

/** Runs `work` on all items, at most `atOnceMax` at the same time; keeps their order. */
async function runSome(items, atOnceMax, work) {
  const results = [];
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index]);
    }
  };
  await Promise.all(Array.from({ length: atOnceMax }, lane));
  return results;
}

function runNode(argv, timeoutMs) {
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, argv, {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
    env: {
      ...process.env,
      NO_COLOR: "1",
      FORCE_COLOR: "0",
      // Tests fail instead of skipping what this machine lacks (test/requires).
      ...(isCi ? { REQUIRE_ALL: "1" } : {}),
    },
  });
  running.add(child);
  let output = "";
  const keep = (chunk) => {
    output = (output + chunk).slice(-OUTPUT_KEPT_CHARS_MAX);
  };
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  return new Promise((resolve) => {
    const settle = (isOk, note = "") => {
      running.delete(child);
      resolve({ isOk, output: output + note, durationMs: performance.now() - startedAtMs });
    };
    child.once("error", (error) => settle(false, `${error.message}\n`));
    child.once("close", (exitCode, signal) =>
      settle(
        exitCode === 0,
        signal === null ? "" : `Ended by ${signal} (limit ${timeoutMs} ms).\n`,
      ),
    );
  });
}
