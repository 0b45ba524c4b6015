import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { chargeInstance } from "./charge-instance.ts";
import { openForwardsIn } from "./forward-ports.ts";
import { endInstance } from "./instance.ts";
import { followFilling, hasLostMemory } from "./lazy-memory.ts";
import { nameHost } from "./name-host.ts";
import { restoreAgain } from "./restore-again.ts";

/**
 * Makes an instance the live one of its session, with the session's name and the ports that lead from
 * it to others, and notices when its PID 1 ends by itself.
 *
 * Then the session is `ended`: its files stay, its mount and network are given back. One that lost
 * its memory in a lazy restore is restored again instead.
 */
export function adoptInstance(live: LiveInstance, engine: Engine): void {
  engine.live.set(live);
  nameHost(live, engine);
  chargeInstance(live, engine);
  followFilling(live, engine);
  // The first command of a session need not wait for the connection for its output.
  live.link.prepareReader();
  engine.automatic.begin(live);
  const { sessionId, instanceId } = live;
  void openForwardsIn(live, engine).catch((error: unknown) =>
    engine.logger.error("ports of other sessions", error, { sessionId }),
  );
  void live.link.ended
    .then(() =>
      engine.leases.run(sessionId, async () => {
        if (engine.live.get(sessionId)?.instanceId !== instanceId) return;
        if (await hasLostMemory(instanceId, engine)) {
          const again = await restoreAgain(sessionId, instanceId, engine);
          if (again !== null) return adoptInstance(again, engine);
        }
        engine.live.delete(sessionId, instanceId);
        engine.catalog.updateSession(sessionId, { state: "ended" });
        engine.logger.warn("session ended by itself", { sessionId, instanceId });
        await endInstance(instanceId, engine);
      }),
    )
    .catch((error: unknown) => engine.logger.error("end of a session", error, { sessionId }));
}
