import type { InitLink } from "../../linux/terminal/index.ts";
import type { Engine } from "../ports/index.ts";

const INIT_ANSWER_TIMEOUT_MS = 10_000;

/**
 * Calls the PID 1 of an instance, which may be frozen: it answers when it runs.
 *
 * The path is short whatever the state directory, since a socket's has at most 107 bytes.
 */
export function callInit(
  pid: number,
  engine: Engine,
  timeoutMs = INIT_ANSWER_TIMEOUT_MS,
): Promise<InitLink> {
  return engine.connectInit(`/proc/${pid}/root/run/waypoint/init.sock`, {
    timeoutMs,
    initPid: pid,
  });
}
