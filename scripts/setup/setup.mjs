import { existsSync } from "node:fs";
import path from "node:path";
import { checkMachine, PRIVILEGE_CHECKS } from "./machine-checks.mjs";
import { SetupError } from "./setup-error.mjs";
import { takeSetupLock } from "./setup-lock.mjs";
import { buildStep } from "./step-build.mjs";
import { criuStep } from "./step-criu.mjs";
import { dependenciesStep } from "./step-dependencies.mjs";
import { nodeStep } from "./step-node.mjs";
import { systemPackagesStep } from "./step-system-packages.mjs";
import { ToolsDir } from "./tools-dir.mjs";

/** The steps in the order in which they are shown. */
export const STEPS = [systemPackagesStep, nodeStep, dependenciesStep, criuStep, buildStep];

/** Makes what the steps share. @param {string} packageRoot */
export function makeContext(packageRoot) {
  return {
    packageRoot,
    tools: new ToolsDir(packageRoot),
    aptDir: process.env.WAYPOINT_APT_DIR || "/etc/apt",
    // A package from a registry has no sources: its dist and its dependencies came with it.
    isPackaged: !existsSync(path.join(packageRoot, "src")),
  };
}

/**
 * Brings everything that Waypoint needs on this machine.
 *
 * Idempotent, and quick when everything is there. One at a time for each checkout.
 *
 * **Requires** Linux, root and a kernel with the features that `checkMachine` looks for.
 * **On success** every step's check passes.
 * **On failure** finished steps stay, the failed one leaves nothing, and it may run again.
 *
 * @param {ReturnType<typeof makeContext>} base
 * @param {{ progress: import("./progress.mjs").Progress, only?: readonly string[],
 *   signal: AbortSignal }} options only: ids of the steps to look at
 * @throws HOST_UNSUPPORTED | PRIVILEGE_MISSING | SETUP_FAILED
 */
export async function setUp(base, options) {
  requireMachine();
  const steps = selectSteps(options.only ?? []);
  const isComplete = steps.every((step) => step.check(base) !== null);
  if (isComplete && !base.tools.hasLeftovers()) return report(steps, base, new Map());

  const lock = await takeSetupLock(base.tools, {
    onWait: () => options.progress.say("Waiting for another set-up of this directory to end."),
  });
  try {
    base.tools.removeLeftovers();
    const durations = await runSteps(steps, base, options);
    return report(steps, base, durations);
  } finally {
    base.tools.removeLeftovers();
    lock.release();
  }
}

/** Throws the first thing that keeps this machine from running Waypoint at all. */
export function requireMachine() {
  const failed = checkMachine().find(({ ok }) => !ok);
  if (failed === undefined) return;
  const code = PRIVILEGE_CHECKS.has(failed.id) ? "PRIVILEGE_MISSING" : "HOST_UNSUPPORTED";
  const message = `Waypoint cannot be set up here: ${failed.id}: ${failed.detail}.`;
  throw new SetupError(code, message, { hint: failed.fix });
}

function selectSteps(only) {
  const unknown = only.find((id) => !STEPS.some((step) => step.id === id));
  if (unknown !== undefined) {
    throw new SetupError("SETUP_FAILED", `There is no set-up step "${unknown}".`, {
      hint: `The steps are ${STEPS.map(({ id }) => id).join(", ")}.`,
    });
  }
  return only.length === 0 ? STEPS : STEPS.filter(({ id }) => only.includes(id));
}

/** Runs what is missing; CRIU is downloaded while npm works, since both wait for the network. */
async function runSteps(steps, context, { progress, signal: outerSignal }) {
  const abort = new AbortController();
  const signal = AbortSignal.any([abort.signal, outerSignal]);
  const durations = new Map();
  const runStep = async (step) => {
    if (!steps.includes(step) || step.check(context) !== null) return;
    signal.throwIfAborted();
    progress.begin(step.title);
    try {
      const detail = await step.run({ ...context, signal });
      durations.set(step.id, progress.done(step.title, detail));
    } catch (error) {
      progress.failed(step.title);
      // The first failure is the one to report; the other branch is stopped, not waited for.
      abort.abort(error);
      throw error;
    }
  };
  await runStep(systemPackagesStep);
  const branches = [[nodeStep, dependenciesStep, buildStep], [criuStep]];
  const results = await Promise.allSettled(
    branches.map(async (branch) => {
      for (const step of branch) await runStep(step);
    }),
  );
  if (results.some(({ status }) => status === "rejected")) throw signal.reason;
  return durations;
}

function report(steps, context, durations) {
  return steps.map((step) => ({
    id: step.id,
    detail: step.check(context),
    changed: durations.has(step.id),
    durationMs: Math.round(durations.get(step.id) ?? 0),
  }));
}
