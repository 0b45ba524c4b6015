import type { InstanceRow, SessionRow } from "../catalog/index.ts";
import {
  adoptInstance,
  type EnginePorts,
  endInstance,
  reconnectInstance,
} from "../session/index.ts";

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
  return ports.sandbox.startTicks(instance.pid) === instance.startTicks;
}

async function reconnect(
  session: SessionRow,
  instance: LivingInstance,
  ports: EnginePorts,
): Promise<void> {
  try {
    const live = await reconnectInstance(session.id, instance, ports);
    // Their callers died with the last daemon; they must not block on output that nobody reads.
    const { commands } = await live.link.list();
    await Promise.all(commands.map(({ id }) => live.link.discard(id)));
    adoptInstance(live, ports);
  } catch (error) {
    // Its processes live and may hold somebody's work, so they are never ended for this.
    ports.logger.error("a running session does not answer", error, { session: session.name });
  }
}

async function noteEnd(
  session: SessionRow,
  instance: InstanceRow | undefined,
  ports: EnginePorts,
): Promise<void> {
  ports.logger.warn("a session has ended meanwhile", { session: session.name });
  ports.catalog.updateSession(session.id, { state: "ended" });
  if (instance !== undefined) await endInstance(instance.id, ports);
}
