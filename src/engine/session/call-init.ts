import type { InitLink } from "../../linux/terminal/index.ts";
import type { Engine } from "../ports/index.ts";

const INIT_ANSWER_TIMEOUT_MS = 10_000;

/** Calls the PID 1 of an instance, which may be frozen: it answers when it runs. */
export function callInit(
  pid: number,
  engine: Engine,
  timeoutMs = INIT_ANSWER_TIMEOUT_MS,
): Promise<InitLink> {
  return engine.connectInit(engine.sandbox.findInitSocket(pid), {
    timeoutMs,
    initPid: pid,
  });
}
