import { readdirSync, readFileSync, statSync } from "node:fs";
import { killProcess, pollUntil } from "../../base/index.ts";
import { findRunningCriu } from "./running-criu.ts";

const END_TIMEOUT_MS = 10_000;

/** What tells the processes of one run of CRIU from all others. */
export interface RunPlace {
  command: "dump" | "restore";
  /** Directory of this run, or of those before it. */
  workDir: string;
  /** Root filesystem of a restored tree, in which nothing else runs. @defaultValue of no tree */
  rootDir?: string;
}

/**
 * Ends what a CRIU that has failed, or was ended, has left: its helpers, and a half restored tree.
 * They would wait for it for ever.
 *
 * They are told by CRIU's command line, which restored processes have until they become what they
 * were, or by their root, which those have by then.
 *
 * @param ending  processes that were ended already; they are waited for.
 *
 * **Requires** CRIU itself has ended: it could make another process between the look and the kill.
 *
 * @throws DEADLINE_EXCEEDED  one of them does not end.
 */
export async function endStaleProcesses(place: RunPlace, ending: readonly number[]): Promise<void> {
  const seen = new Set(ending);
  await pollUntil("what CRIU has left to end", { timeoutMs: END_TIMEOUT_MS }, () => {
    for (const pid of findProcesses(place)) {
      seen.add(pid);
      killProcess(pid);
    }
    // The first process of a pid namespace ends last, when it has lost its command line and root.
    return [...seen].every(hasEnded) ? true : undefined;
  });
}

function findProcesses({ command, workDir, rootDir }: RunPlace): number[] {
  const running = findRunningCriu((argument) => argument === workDir)
    .filter((each) => each.command === command)
    .map(({ pid }) => pid);
  return rootDir === undefined ? running : [...running, ...findByRoot(rootDir)];
}

function findByRoot(rootDir: string): number[] {
  const root = identify(rootDir);
  if (root === null) return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && identify(`/proc/${name}/root/`) === root)
    .map(Number);
}

/** Returns what a directory is, whatever its name and whoever looks; `null` when there is none. */
function identify(directory: string): string | null {
  try {
    const { dev, ino } = statSync(directory);
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}

function hasEnded(pid: number): boolean {
  try {
    return /^State:\s*[XZ]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return true;
  }
}
