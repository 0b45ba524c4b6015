import { chargeInstance } from "./charge-instance.ts";
import { openForwardsIn } from "./forward-ports.ts";
import { endInstance } from "./instance.ts";
import { followFilling, hasLostMemory } from "./lazy-memory.ts";
import type { LiveInstance } from "./live-sessions.ts";
import type { EnginePorts } from "./ports.ts";
import { restoreAgain } from "./restore-again.ts";

/**
 * Makes an incarnation the live one of its session, with the ports that lead from it to others, and
 * notices when its PID 1 ends by itself.
 *
 * Then the session is `ended`: its files stay, its mount and network are given back. One that lost
 * its memory in a lazy restore is restored again instead.
 */
export function adoptInstance(live: LiveInstance, ports: EnginePorts): void {
  ports.live.set(live);
  chargeInstance(live, ports);
  followFilling(live, ports);
  // The first command of a session need not wait for the connection for its output.
  live.link.prepareReader();
  ports.automatic.begin(live);
  const { sessionId, instanceId } = live;
  void openForwardsIn(live, ports).catch((error: unknown) =>
    ports.logger.error("ports of other sessions", error, { sessionId }),
  );
  void live.link.ended
    .then(() =>
      ports.leases.run(sessionId, async () => {
        if (ports.live.get(sessionId)?.instanceId !== instanceId) return;
        if (await hasLostMemory(instanceId, ports)) {
          const again = await restoreAgain(sessionId, instanceId, ports);
          if (again !== null) return adoptInstance(again, ports);
        }
        ports.live.delete(sessionId, instanceId);
        ports.catalog.updateSession(sessionId, { state: "ended" });
        ports.logger.warn("session ended by itself", { sessionId, instanceId });
        await endInstance(instanceId, ports);
      }),
    )
    .catch((error: unknown) => ports.logger.error("end of a session", error, { sessionId }));
}
