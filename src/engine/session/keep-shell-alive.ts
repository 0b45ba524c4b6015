import { toWaypointError } from "../../shared/errors/index.ts";
import type { LiveInstance } from "./live-sessions.ts";
import type { EnginePorts } from "./ports.ts";

/** A command such as `exit` ends the shell itself; the session goes on with a fresh one. */
export async function keepShellAlive(live: LiveInstance, ports: EnginePorts): Promise<void> {
  try {
    if (ports.live.get(live.sessionId)?.instanceId !== live.instanceId) return;
    const { terminals } = await live.link.list();
    const terminal = terminals.find(({ id }) => id === live.terminalId);
    if (terminal?.isAlive === false) await live.link.respawnTerminal(live.terminalId);
  } catch (error) {
    ports.logger.warn("shell not started again", { reason: toWaypointError(error).message });
  }
}
