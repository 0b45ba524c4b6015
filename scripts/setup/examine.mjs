import { checkMachine } from "./machine-checks.mjs";
import { STEPS } from "./setup.mjs";
import { EXIT_CODE_HOST } from "./setup-error.mjs";

/**
 * Says what this machine has and lacks, for `waypoint doctor` before anything is built.
 *
 * Installs nothing. Returns the exit code: 0 when nothing is missing.
 */
export function examine(context, { isJson }) {
  const steps = STEPS.map((step) => {
    const detail = step.check(context);
    if (detail !== null) return { id: step.id, ok: true, detail, fix: null };
    return { id: step.id, ok: false, detail: "not set up", fix: "waypoint setup" };
  });
  const checks = [...checkMachine(), ...steps];
  const ok = checks.every((check) => check.ok);
  if (isJson) {
    process.stdout.write(`${JSON.stringify({ ok, checks })}\n`);
  } else {
    for (const check of checks) {
      const mark = check.ok ? "ok" : "--";
      process.stdout.write(`${mark}  ${check.id.padEnd(14)} ${check.detail}\n`);
      if (check.fix !== null) process.stdout.write(`    ${" ".repeat(14)} Fix: ${check.fix}\n`);
    }
  }
  return ok ? 0 : EXIT_CODE_HOST;
}
