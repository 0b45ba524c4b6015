import { checkHost, type HostCheck } from "../../../linux/host/index.ts";
import { ERROR_REGISTRY } from "../../../shared/errors/index.ts";
import { findPackageRoot } from "../../client/index.ts";
import { type Invocation, printResult } from "../context.ts";
import { printable } from "../text/printable.ts";
import type { Paint } from "../text/style.ts";

/** Checks what this machine can do; needs no daemon. */
export async function run({ context }: Invocation): Promise<number> {
  const packageRoot = findPackageRoot();
  const checks = await checkHost({ stateDir: context.stateDir, packageRoot });
  const result = { ok: checks.every(({ ok }) => ok), checks };
  await printResult(context, result, () => renderChecks(checks, context.output.paint));
  return result.ok ? 0 : ERROR_REGISTRY.HOST_UNSUPPORTED.exitCode;
}

/** How a check that keeps nothing from working tells of something that is not there. */
const LACKING = /^(?:missing|none|off|no)\b/;

/** Returns a line per check, and how to fix what is missing. */
export function renderChecks(checks: readonly HostCheck[], paint: Paint): string[] {
  const lines = checks.flatMap(({ id, ok, detail, fix }) => {
    const mark = markOf({ ok, detail }, paint);
    const advice = fix === null ? [] : [`    ${paint("bold", "Fix:")} ${printable(fix)}`];
    return [`${mark} ${id}: ${printable(detail)}`, ...advice];
  });
  const failures = checks.filter(({ ok }) => !ok).length;
  const summary =
    failures === 0
      ? "This machine can run Waypoint."
      : `${failures} of ${checks.length} checks failed. \`waypoint setup\` installs what it can.`;
  return [...lines, "", summary];
}

function markOf({ ok, detail }: { ok: boolean; detail: string }, paint: Paint): string {
  if (!ok) return paint("red", "✗");
  return LACKING.test(detail) ? paint("yellow", "•") : paint("green", "✓");
}
