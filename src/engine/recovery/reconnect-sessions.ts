import { setTimeout as delay } from "node:timers/promises";
import { findStandstill } from "../../base/index.ts";
import type { InstanceRow, SessionRow } from "../../portable/catalog/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import {
  adoptInstance,
  type EnginePorts,
  endInstance,
  hasLostMemory,
  type LiveInstance,
  reconnectInstance,
  restoreAgain,
} from "../session/index.ts";

/** How often to look whether a session that does not answer yet is still there. */
const END_POLL_INTERVAL_MS = 20;
/** The daemon's start waits so long for sessions that are slow to answer: others need it as well. */
const START_WAIT_MS = 1_000;
/** Operations on one of those wait so long, before they are told that it does not answer. */
const ANSWER_WAIT_MS = 10_000;
/** How long a session may take to answer before it is called again. */
const CALL_AGAIN_MS = 1_000;

type LivingInstance = InstanceRow & { pid: number; startTicks: number };

/**
 * Connects to every session that ran under the last daemon; those that have died are `ended`.
 *
 * One that does not answer delays no other: it is called again, in the background, until it
 * answers, ends or is removed.
 */
export async function reconnectSessions(ports: EnginePorts): Promise<void> {
  const running = ports.catalog.sessions().filter(({ state }) => state === "running");
  await Promise.all(
    running.map(async (session) => {
      const instance =
        session.instance === null ? undefined : ports.catalog.instance(session.instance);
      if (!isAlive(instance, ports)) return await noteEnd(session, instance, ports);
      const calling = reconnect(session, instance, ports);
      if (findStandstill(instance.pid) !== null) return;
      const lateMs = (timeoutMs: number) => delay(timeoutMs, undefined, { ref: false });
      ports.live.expect(session.id, Promise.race([calling, lateMs(ANSWER_WAIT_MS)]));
      await Promise.race([calling, lateMs(START_WAIT_MS)]);
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
      untilAnswered(session, instance, ports),
      awaitEnd(instance, ports, end.signal),
    ]);
    await ports.leases.run(session.id, () => takeOver(session, instance, live, ports));
  } catch (error) {
    // Its processes live and may hold somebody's work, so they are never ended for this.
    ports.logger.error("a running session does not answer", error, { session: session.name });
  } finally {
    end.abort();
  }
}

async function takeOver(
  session: SessionRow,
  instance: LivingInstance,
  live: LiveInstance | null,
  ports: EnginePorts,
): Promise<void> {
  // It may have been removed or restored before it answered.
  if (!isWanted(session, instance, ports)) {
    return live?.link.end(new WaypointError("SESSION_ENDED", "The session went on elsewhere."));
  }
  // It died while it was being connected to, as when the daemon's death was part of a larger one.
  if (live === null) return await noteEnd(session, instance, ports);
  // Their callers died with the last daemon; they must not block on output that nobody reads.
  const { commands } = await live.link.list();
  await Promise.all(commands.map(({ id }) => live.link.discard(id)));
  // The last daemon may have died in a dump, for which it had lifted this limit.
  ports.limits.applyCpu(instance.id, session);
  adoptInstance(live, ports);
}

/** Connects to an incarnation, however long its init takes to answer. */
async function untilAnswered(
  session: SessionRow,
  instance: LivingInstance,
  ports: EnginePorts,
): Promise<LiveInstance | null> {
  for (let tries = 1; isWanted(session, instance, ports); tries += 1) {
    try {
      await untilItMoves(instance, ports);
      return await reconnectInstance(session.id, instance, ports);
    } catch (error) {
      if (!hasCode(error, "SESSION_UNRESPONSIVE")) throw error;
      if (tries === 1) {
        ports.logger.error("a running session does not answer", error, { session: session.name });
      }
    }
    await delay(CALL_AGAIN_MS, undefined, { ref: false });
  }
  return null;
}

/** Calls that nobody takes would fill up the queue of those that wait to be taken. */
async function untilItMoves(instance: LivingInstance, ports: EnginePorts): Promise<void> {
  while (isAlive(instance, ports) && findStandstill(instance.pid) !== null) {
    await delay(CALL_AGAIN_MS, undefined, { ref: false });
  }
}

/** Whether it is still what the session runs as, and nobody else has connected to it. */
function isWanted({ id }: SessionRow, instance: LivingInstance, ports: EnginePorts): boolean {
  const row = ports.catalog.session(id);
  const isCurrent = row?.state === "running" && row.instance === instance.id;
  return isCurrent && ports.live.get(id) === undefined;
}

/** Resolves when the processes of an incarnation have ended. */
async function awaitEnd(
  instance: LivingInstance,
  ports: EnginePorts,
  signal: AbortSignal,
): Promise<null> {
  for (let intervalMs = END_POLL_INTERVAL_MS; !signal.aborted && isAlive(instance, ports); ) {
    await delay(intervalMs, undefined, { ref: false });
    intervalMs = Math.min(intervalMs * 1.1, CALL_AGAIN_MS);
  }
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
