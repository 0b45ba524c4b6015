import { toWaypointError } from "../../shared/errors/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";

/** A command such as `exit` ends the shell itself; the session goes on with a fresh one. */
export async function keepShellAlive(live: LiveInstance, engine: Engine): Promise<void> {
  try {
    if (engine.live.get(live.sessionId)?.instanceId !== live.instanceId) return;
    const { terminals } = await live.link.list();
    const terminal = terminals.find(({ id }) => id === live.terminalId);
    if (terminal?.isAlive === false) await live.link.respawnTerminal(live.terminalId);
  } catch (error) {
    engine.logger.warn("shell not started again", { reason: toWaypointError(error).message });
  }
}
