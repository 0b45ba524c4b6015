import { endInstance } from "./instance.ts";
import type { LiveInstance } from "./live-sessions.ts";
import type { EnginePorts } from "./ports.ts";

/**
 * Makes an incarnation the live one of its session, and notices when its PID 1 ends by itself.
 *
 * Then the session is `ended`: its files stay, its mount and network are given back.
 */
export function adoptInstance(live: LiveInstance, ports: EnginePorts): void {
  ports.live.set(live);
  const { sessionId, instanceId } = live;
  void live.link.ended
    .then(() =>
      ports.leases.run(sessionId, async () => {
        if (ports.live.get(sessionId)?.instanceId !== instanceId) return;
        ports.live.delete(sessionId, instanceId);
        ports.catalog.updateSession(sessionId, { state: "ended" });
        ports.logger.warn("session ended by itself", { sessionId, instanceId });
        await endInstance(instanceId, ports);
      }),
    )
    .catch((error: unknown) => ports.logger.error("end of a session", error, { sessionId }));
}
