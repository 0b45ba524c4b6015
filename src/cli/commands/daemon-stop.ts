import { existsSync } from "node:fs";
import { stateLayout } from "../../base/index.ts";
import { hasCode } from "../../errors/index.ts";
import type { OperationOutput } from "../../protocol/index.ts";
import { type CommandContext, call, type Invocation, printResult } from "../context.ts";

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

async function stop(context: CommandContext, isWithSessions: boolean): Promise<boolean> {
  const hasState = existsSync(stateLayout(context.stateDir).catalogPath);
  try {
    const input = { sessions: isWithSessions };
    const stopped: OperationOutput<"daemon.stop"> = await call(context, "daemon.stop", input, {
      start: isWithSessions && hasState,
    });
    return stopped.stopped;
  } catch (error) {
    const isNone = hasCode(error, "DAEMON_UNREACHABLE") && error.detail["operation"] === undefined;
    if (isNone && !isWithSessions) return false;
    if (isNone && !hasState) return false;
    throw error;
  }
}
