import { setTimeout as delay } from "node:timers/promises";
import type { InstanceRow, SessionRow } from "../catalog/index.ts";
import {
  adoptInstance,
  type EnginePorts,
  endInstance,
  hasLostMemory,
  reconnectInstance,
  restoreAgain,
} from "../session/index.ts";

/** How often to look whether a session that does not answer yet is still there. */
const END_POLL_INTERVAL_MS = 20;

type LivingInstance = InstanceRow & { pid: number; startTicks: number };

/** Connects to every session that ran under the last daemon; those that have died are `ended`. */
export async function reconnectSessions(ports: EnginePorts): Promise<void> {
  const running = ports.catalog.sessions().filter(({ state }) => state === "running");
  await Promise.all(
    running.map(async (session) => {
      const instance =
        session.instance === null ? undefined : ports.catalog.instance(session.instance);
      if (isAlive(instance, ports)) await reconnect(session, instance, ports);
      else await noteEnd(session, instance, ports);
    }),
  );
}

function isAlive(
  instance: InstanceRow | undefined,
  ports: EnginePorts,
): instance is LivingInstance {
  if (instance?.pid == null || instance.startTicks === null) return false;
  if (ports.sandbox.startTicks(instance.pid) !== instance.startTicks) return false;
  // One that nobody has collected yet is still listed.
  return ports.sandbox.listTree(instance.pid)[0]?.state !== "Z";
}

async function reconnect(
  session: SessionRow,
  instance: LivingInstance,
  ports: EnginePorts,
): Promise<void> {
  const end = new AbortController();
  try {
    const live = await Promise.race([
      reconnectInstance(session.id, instance, ports),
      awaitEnd(instance, ports, end.signal),
    ]);
    // It died while it was being connected to, as when the daemon's death was part of a larger one.
    if (live === null) return await noteEnd(session, instance, ports);
    // Their callers died with the last daemon; they must not block on output that nobody reads.
    const { commands } = await live.link.list();
    await Promise.all(commands.map(({ id }) => live.link.discard(id)));
    // The last daemon may have died in a dump, for which it had lifted this limit.
    ports.limits.applyCpu(instance.id, session);
    adoptInstance(live, ports);
  } catch (error) {
    // Its processes live and may hold somebody's work, so they are never ended for this.
    ports.logger.error("a running session does not answer", error, { session: session.name });
  } finally {
    end.abort();
  }
}

/** Resolves when the processes of an incarnation have ended. */
async function awaitEnd(
  instance: LivingInstance,
  ports: EnginePorts,
  signal: AbortSignal,
): Promise<null> {
  while (!signal.aborted && isAlive(instance, ports)) await delay(END_POLL_INTERVAL_MS);
  return null;
}

async function noteEnd(
  session: SessionRow,
  instance: InstanceRow | undefined,
  ports: EnginePorts,
): Promise<void> {
  if (instance !== undefined && (await hasLostMemory(instance.id, ports))) {
    const again = await restoreAgain(session.id, instance.id, ports);
    if (again !== null) return adoptInstance(again, ports);
  }
  ports.logger.warn("a session has ended meanwhile", { session: session.name });
  ports.catalog.updateSession(session.id, { state: "ended" });
  if (instance !== undefined) await endInstance(instance.id, ports);
}
