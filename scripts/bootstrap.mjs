/**
 * The first program of a fresh checkout; it needs nothing but the Node that package.json asks for,
 * and brings the rest.
 *
 *     node scripts/bootstrap.mjs setup [STEP…] [--json]   brings what is missing; with --unit the
 *                                                         daemon becomes a service of systemd, too
 *     node scripts/bootstrap.mjs doctor                   says what is missing, changes nothing
 *     node scripts/bootstrap.mjs start | test | check | zoo | docs | walk | bench | langgraph
 *                                                         sets up, then runs the program
 */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { examine } from "./setup/examine.mjs";
import { formatDuration, Progress } from "./setup/progress.mjs";
import { runProgram } from "./setup/run-program.mjs";
import { makeContext, setUp } from "./setup/setup.mjs";
import { EXIT_CODE_HOST, SetupError } from "./setup/setup-error.mjs";
import { installUnit, isUnitOffered } from "./setup/systemd-unit.mjs";

const PACKAGE_ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const EXIT_CODE_USAGE = 2;
const EXIT_CODE_CANCELLED = 130;
const OUTPUT_LINES_MAX = 16;
const UNIT_OFFER =
  "systemd runs here: `waypoint setup --unit` has it keep the daemon, beyond logouts and reboots.\n";

/** What each sub-command runs after the set-up, with the project's own Node. */
const PROGRAMS = {
  start: ["examples/tour/tour.ts"],
  test: ["scripts/check.mjs"],
  check: ["scripts/check.mjs", "--fast"],
  zoo: ["node_modules/vitest/vitest.mjs", "run", "--project", "zoo"],
  docs: ["scripts/docs.mjs"],
  walk: ["scripts/walk.mjs"],
  bench: ["bench/run.ts"],
  langgraph: ["examples/langgraph/run.ts"],
};

process.exitCode = await main(process.argv.slice(2));

async function main([command, ...args]) {
  const context = makeContext(PACKAGE_ROOT);
  const isJson = args.includes("--json");
  try {
    if (command === "setup") return await setUpOnly(context, args, isJson);
    if (command === "doctor") return examine(context, { isJson });
    if (Object.hasOwn(PROGRAMS, command ?? "")) {
      await setUpVisibly(context, { isQuiet: false });
      const [program, ...programArgs] = PROGRAMS[command];
      return await runProgram(context, program, [...programArgs, ...args]);
    }
    const names = ["setup", "doctor", ...Object.keys(PROGRAMS)];
    process.stderr.write(`Usage: node scripts/bootstrap.mjs ${names.join("|")}\n`);
    return EXIT_CODE_USAGE;
  } catch (error) {
    return printFailure(error, isJson);
  }
}

async function setUpOnly(context, args, isJson) {
  const only = args.filter((arg) => !arg.startsWith("-"));
  const startedAtMs = performance.now();
  const steps = await setUpVisibly(context, { only, isQuiet: isJson });
  const unit = args.includes("--unit") ? await installUnit(context.packageRoot) : null;
  if (isJson) {
    process.stdout.write(`${JSON.stringify({ ok: true, steps, unit })}\n`);
    return 0;
  }
  for (const { id, detail } of steps) process.stdout.write(`${id.padEnd(13)} ${detail}\n`);
  const tookMs = performance.now() - startedAtMs;
  process.stdout.write(`Waypoint is set up (${formatDuration(tookMs)}).\n`);
  if (unit !== null) process.stdout.write(`systemd keeps its daemon (${unit.path}).\n`);
  else if (isUnitOffered()) process.stdout.write(UNIT_OFFER);
  return 0;
}

async function setUpVisibly(context, { only, isQuiet }) {
  const cancel = new AbortController();
  const onSignal = () => cancel.abort(new Error("cancelled"));
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const name of signals) process.on(name, onSignal);
  try {
    const progress = new Progress({ isQuiet });
    return await setUp(context, { only, progress, signal: cancel.signal });
  } finally {
    for (const name of signals) process.off(name, onSignal);
  }
}

function printFailure(error, isJson) {
  if (error.message === "cancelled") {
    process.stderr.write("Cancelled; nothing is half-installed.\n");
    return EXIT_CODE_CANCELLED;
  }
  if (!(error instanceof SetupError)) throw error;
  if (isJson) {
    process.stderr.write(`${JSON.stringify({ error })}\n`);
    return EXIT_CODE_HOST;
  }
  process.stderr.write(`Error: ${error.message}\n`);
  const lines = error.output.split("\n").filter((line) => line.trim() !== "");
  for (const line of excerpt(lines)) process.stderr.write(`  | ${line}\n`);
  if (error.hint !== null) process.stderr.write(`Hint:  ${error.hint}\n`);
  return EXIT_CODE_HOST;
}

/** The reason stands sometimes at the beginning of what a tool prints, sometimes at its end. */
function excerpt(lines) {
  if (lines.length <= OUTPUT_LINES_MAX) return lines;
  const half = OUTPUT_LINES_MAX / 2;
  return [...lines.slice(0, half), "…", ...lines.slice(-half)];
}
