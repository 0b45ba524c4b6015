import { spawnSync } from "node:child_process";
import path from "node:path";
import { describe, test } from "vitest";

export const ROOT = path.resolve(import.meta.dirname, "../..");
/** Set in the copy of a run that is inside the namespace. */
const INSIDE_VARIABLE = "WAYPOINT_TEST_NAMESPACE";

/**
 * Runs the tests of a file again in namespaces that end with the run, with a tmpfs on /run, so that
 * processes, mounts, links, rules and settings can neither disturb the machine nor be left behind.
 */
export function inPrivateNamespace(
  file: string,
  options: { title: string; network: boolean },
  tests: () => void,
): void {
  if (process.env[INSIDE_VARIABLE] !== undefined) {
    describe("in a namespace", tests);
    return;
  }
  test(options.title, () => {
    const { status, stdout, stderr } = runAgain(file, options.network);

    // What failed comes first, since a long message is told shortened.
    if (status !== 0) throw new Error(`${failedTests(stderr)}\n\nThe whole:\n${stdout}${stderr}`);
  });
}

/** The part of vitest's output that names each failed test and why; else the end of it. */
function failedTests(stderr: string): string {
  const start = stderr.search(/^.*Failed (Tests|Suites) \d+.*$/m);
  return start === -1 ? stderr.slice(-2000) : stderr.slice(start);
}

function runAgain(file: string, network: boolean) {
  const vitest = path.join(ROOT, "node_modules/vitest/vitest.mjs");
  const run = [
    process.execPath,
    vitest,
    "run",
    "--project",
    "integration",
    path.relative(ROOT, file),
  ];
  const pids = ["--pid", "--fork", "--kill-child", "--mount-proc"];
  const mounts = ["--mount", "--propagation", "private"];
  const namespaces = [...pids, ...mounts, ...(network ? ["--net"] : [])];
  // The shell stays, as the first process, to collect those that have lost their parents.
  const script = 'mount -t tmpfs tmpfs /run; "$@"';
  return spawnSync("unshare", [...namespaces, "--", "sh", "-ec", script, "sh", ...run], {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: "1", [INSIDE_VARIABLE]: "1" },
    encoding: "utf8",
  });
}
