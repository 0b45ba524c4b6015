import { existsSync, readFileSync } from "node:fs";
import { isSystemError, pollUntil, stateLayout } from "../../../base/index.ts";
import { hasCode } from "../../../shared/errors/index.ts";
import { type CommandContext, call, type Invocation, printResult } from "../context.ts";

const END_TIMEOUT_MS = 30_000;

/**
 * Ends the daemon. That none runs is no failure: it is what was wanted.
 *
 * With `--sessions` a daemon that does not run is started first, because sessions outlive it and
 * only a daemon can end them.
 */
export async function run({
  context,
  options,
}: Invocation<{ sessions?: boolean }>): Promise<undefined> {
  const isWithSessions = options.sessions === true;
  const wasRunning = await stop(context, isWithSessions);
  await printResult(context, { stopped: true as const, wasRunning }, () => [
    wasRunning ? "The daemon has ended." : `No daemon runs for ${context.stateDir}.`,
    ...(wasRunning && !isWithSessions ? ["The sessions live on."] : []),
  ]);
}

/** Returns whether there was a daemon to end; resolves when its process is gone. */
async function stop(context: CommandContext, isWithSessions: boolean): Promise<boolean> {
  const hasState = existsSync(stateLayout(context.stateDir).catalogPath);
  const start = isWithSessions && hasState;
  try {
    const { pid } = await call(context, "daemon.status", {}, { start });
    await call(context, "daemon.stop", { sessions: isWithSessions }, { start });
    await pollUntil("the daemon's end", { timeoutMs: END_TIMEOUT_MS, intervalMs: 10 }, () => {
      return isAlive(pid) ? undefined : true;
    });
    return true;
  } catch (error) {
    const isNone = hasCode(error, "DAEMON_UNREACHABLE") && error.detail["operation"] === undefined;
    if (isNone && !start) return false;
    throw error;
  }
}

/** A daemon that has ended stays a zombie while the program that started it is busy. */
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch (error) {
    return !isSystemError(error, "ENOENT", "ESRCH");
  }
}
