// The one gate: types, format, lint, boundaries, dead code, generated documents, tests.
//
//   node scripts/check.mjs          everything; what `npm test` runs
//   node scripts/check.mjs --fast   without the integration tests and the zoo
//
// One line per stage. When tests fail, only what failed is told, so that a reader of a shortened
// output sees it first; the whole output is kept beside the tools. With CI set, files of integration
// tests that failed are run again, and that is told. The last line counts all tests; one that passed at
// another try is flaky, and more than two of these fail the gate.
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { runNode } from "./check/run-node.mjs";
import { runTests } from "./check/run-tests.mjs";
import { verdictOf } from "./check/test-report.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const STATIC_STAGES_AT_ONCE = Math.min(2, availableParallelism());
const STATIC_STAGE_TIMEOUT_MS = 5 * 60_000;
const UNIT_TIMEOUT_MS = 10 * 60_000;
const INTEGRATION_TIMEOUT_MS = 65 * 60_000;
const ZOO_TIMEOUT_MS = 60 * 60_000;

const isFast = process.argv.includes("--fast");
const isCi = /^(1|true)$/i.test(process.env.CI ?? "");
/** By hand, a test that fails has failed. */
const INTEGRATION_TRIES_MAX = isCi ? 3 : 1;
const workDir = mkdtempSync(join(tmpdir(), "waypoint-check-"));
process.on("exit", () => {
  try {
    rmSync(workDir, { recursive: true, force: true });
  } catch (error) {
    // A mount of a test that was ended holds it.
    process.stderr.write(`Left behind: ${workDir} (${error.message})\n`);
    process.exitCode = 1;
  }
});

const staticStages = [
  { name: "types", argv: ["node_modules/ts7/bin/tsc", "--noEmit"] },
  // What the SDK loads has to be there in Node 20.
  {
    name: "types on Node 20",
    argv: ["node_modules/ts7/bin/tsc", "--noEmit", "--project", "tsconfig.sdk.json"],
  },
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
      ...["src", "test", "bench", "examples", "scripts"],
    ],
  },
  { name: "dead code", argv: ["node_modules/knip/bin/knip.js", "--no-progress"] },
  { name: "generated documents", argv: ["scripts/docs.mjs", "--check"] },
];

const total = { passed: 0, failed: 0, skipped: 0, flaky: 0 };

const results = await runSome(staticStages, STATIC_STAGES_AT_ONCE, (stage) =>
  runNode(stage.argv, { cwd: ROOT, timeoutMs: STATIC_STAGE_TIMEOUT_MS }),
);
for (const [index, result] of results.entries()) report(staticStages[index].name, result);

await test("unit", { timeoutMs: UNIT_TIMEOUT_MS, triesMax: 1 });
if (!isFast) {
  await test("integration", {
    timeoutMs: INTEGRATION_TIMEOUT_MS,
    triesMax: INTEGRATION_TRIES_MAX,
  });
  // Each program has further tries of its own, by vitest.
  await test("zoo", { timeoutMs: ZOO_TIMEOUT_MS, triesMax: 1 });
}

const { isOk, text } = verdictOf(total);
process.stdout.write(text);
process.exitCode = isOk ? 0 : 1;

/** Runs a vitest project, prints what it tells and adds its tests to the total. */
async function test(project, limits) {
  const where = { rootDir: ROOT, workDir, isCi };
  const { counts, told, ...result } = await runTests(project, { ...where, ...limits });
  total.passed += counts.passed;
  total.skipped += counts.skipped;
  total.flaky += counts.flaky;
  total.failed += counts.failed;
  printLine(`${project} tests`, result);
  process.stdout.write(told);
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

/** Runs `work` on all items, at most `concurrency` at the same time; keeps their order. */
async function runSome(items, concurrency, work) {
  const results = [];
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index]);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return results;
}
