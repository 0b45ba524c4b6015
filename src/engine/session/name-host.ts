import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";

/** Gives the host of an instance its session's name: CRIU brings back that of what was captured. */
export function nameHost(
  { sessionId, pid }: Pick<LiveInstance, "sessionId" | "pid">,
  engine: Engine,
) {
  const name = engine.catalog.session(sessionId)?.name;
  if (name === undefined) return;
  try {
    engine.sandbox.nameHost(pid, name);
  } catch (error) {
    engine.logger.error("name the host of a session", error, { sessionId });
  }
}
