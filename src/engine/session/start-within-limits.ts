import { pollUntil } from "../../base/index.ts";
import type { SessionRow } from "../../portable/model/index.ts";
import { hasCode } from "../../shared/errors/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { mebibytes, tooSmall } from "./session-limits.ts";

/** With a small share of a processor even a shell takes long; then it is not waited for. */
const SHELL_START_TIMEOUT_MS = 5_000;
/** No shell needs so many processes to start. */
const PIDS_AMPLE = 256;

/**
 * Starts a session's processes, and waits for its shell where a limit could be in its way.
 *
 * @throws USAGE_INVALID  a limit is too small: its first process or its shell has ended.
 */
export async function startWithinLimits(
  session: SessionRow,
  instanceId: string,
  engine: Engine,
  start: () => Promise<LiveInstance>,
): Promise<LiveInstance> {
  const { memoryLimitBytes, pidsLimit } = session;
  const isAmple = pidsLimit === null || pidsLimit >= PIDS_AMPLE;
  if (memoryLimitBytes === null && isAmple) return await start();
  let live: LiveInstance | undefined;
  let cause: unknown;
  try {
    live = await start();
    if (!(await hasShellEnded(live))) return live;
  } catch (error) {
    cause = error;
  }
  const hits = engine.limits.hits(instanceId);
  if (hits !== null && hits.memory > 0 && memoryLimitBytes !== null) {
    const more = `${mebibytes(2 * memoryLimitBytes)} of memory`;
    throw tooSmall(`${mebibytes(memoryLimitBytes)} of memory`, more, cause);
  }
  if (hits !== null && hits.pids > 0 && pidsLimit !== null) {
    throw tooSmall(`${pidsLimit} processes`, `${2 * pidsLimit} processes`, cause);
  }
  if (live === undefined) throw cause;
  return live;
}

/** Resolves when a new shell waits for a line, or has ended; one that is slow goes on to start. */
async function hasShellEnded({ link, terminalId }: LiveInstance): Promise<boolean> {
  const look = async () => {
    const { terminals } = await link.list();
    const terminal = terminals.find(({ id }) => id === terminalId);
    if (terminal?.isAlive !== true) return "ended";
    return terminal.isAtPrompt ? "started" : undefined;
  };
  try {
    const options = { timeoutMs: SHELL_START_TIMEOUT_MS };
    return (await pollUntil("the shell", options, look)) === "ended";
  } catch (error) {
    if (hasCode(error, "DEADLINE_EXCEEDED")) return false;
    throw error;
  }
}
