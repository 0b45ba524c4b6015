import { setTimeout as delay } from "node:timers/promises";
import { findStandstill } from "../../base/index.ts";
import type { InstanceRow, SessionRow } from "../../portable/model/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import {
  adoptInstance,
  endInstance,
  hasLostMemory,
  reconnectInstance,
  restoreAgain,
} from "../session/index.ts";
import { attempt } from "./attempt.ts";

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
 * Connects to every session that ran under the last daemon; those that have died are `ended`, those that it
 * was ending `stopped`.
 *
 * One that does not answer delays no other: it is called again, in the background, until it
 * answers, ends or is removed.
 */
export async function reconnectSessions(engine: Engine): Promise<void> {
  const running = engine.catalog.sessions().filter(({ state }) => state === "running");
  await Promise.all(
    running.map(async (session) => {
      const instance =
        session.instance === null ? undefined : engine.catalog.instance(session.instance);
      if (instance?.endedFor != null) {
        const stop = () => noteStopped(session, instance, engine);
        return await attempt("a session that was ended", engine, stop, { session: session.name });
      }
      if (!isAlive(instance, engine)) {
        const end = () => noteEnd(session, instance, engine);
        return await attempt("a session that has ended", engine, end, { session: session.name });
      }
      const calling = reconnect(session, instance, engine);
      if (findStandstill(instance.pid) !== null) return;
      const lateMs = (timeoutMs: number) => delay(timeoutMs, undefined, { ref: false });
      engine.live.expect(session.id, Promise.race([calling, lateMs(ANSWER_WAIT_MS)]));
      await Promise.race([calling, lateMs(START_WAIT_MS)]);
    }),
  );
}

function isAlive(instance: InstanceRow | undefined, engine: Engine): instance is LivingInstance {
  if (instance?.pid == null || instance.startTicks === null) return false;
  if (engine.sandbox.startTicks(instance.pid) !== instance.startTicks) return false;
  // One that nobody has collected yet is still listed.
  return engine.sandbox.listProcesses(instance.pid)[0]?.state !== "Z";
}

async function reconnect(
  session: SessionRow,
  instance: LivingInstance,
  engine: Engine,
): Promise<void> {
  const end = new AbortController();
  try {
    const live = await Promise.race([
      untilAnswered(session, instance, engine),
      awaitEnd(instance, engine, end.signal),
    ]);
    await engine.leases.run(session.id, () => adoptReconnected(session, instance, live, engine));
  } catch (error) {
    // Its processes live and may hold somebody's work, so they are never ended for this.
    engine.logger.error("a running session does not answer", error, { session: session.name });
  } finally {
    end.abort();
  }
}

async function adoptReconnected(
  session: SessionRow,
  instance: LivingInstance,
  live: LiveInstance | null,
  engine: Engine,
): Promise<void> {
  // It may have been removed or restored before it answered.
  if (!isWanted(session, instance, engine)) {
    return live?.link.end(new WaypointError("SESSION_ENDED", "The session went on elsewhere."));
  }
  // It died while it was being connected to, as when the daemon's death was part of a larger one.
  if (live === null) return await noteEnd(session, instance, engine);
  try {
    // Their callers died with the last daemon; they must not block on output that nobody reads.
    const { commands } = await live.link.list();
    await Promise.all(commands.map(({ id }) => live.link.discard(id)));
  } catch (error) {
    live.link.end(new WaypointError("SESSION_UNRESPONSIVE", "The session does not answer."));
    throw error;
  }
  // The last daemon may have died in a dump, for which it had lifted this limit.
  const limit = () => engine.limits.applyCpu(instance.id, session);
  await attempt("the limit of a session", engine, limit, { session: session.name });
  adoptInstance(live, engine);
}

/** Connects to an instance, however long its init takes to answer. */
async function untilAnswered(
  session: SessionRow,
  instance: LivingInstance,
  engine: Engine,
): Promise<LiveInstance | null> {
  for (let tries = 1; isWanted(session, instance, engine); tries += 1) {
    try {
      await untilItMoves(instance, engine);
      return await reconnectInstance(session.id, instance, engine);
    } catch (error) {
      if (!hasCode(error, "SESSION_UNRESPONSIVE")) throw error;
      if (tries === 1) {
        engine.logger.error("a running session does not answer", error, { session: session.name });
      }
    }
    await delay(CALL_AGAIN_MS, undefined, { ref: false });
  }
  return null;
}

/** Calls that nobody takes would fill up the queue of those that wait to be taken. */
async function untilItMoves(instance: LivingInstance, engine: Engine): Promise<void> {
  while (isAlive(instance, engine) && findStandstill(instance.pid) !== null) {
    await delay(CALL_AGAIN_MS, undefined, { ref: false });
  }
}

/** Whether it is still what the session runs as, and nobody else has connected to it. */
function isWanted({ id }: SessionRow, instance: LivingInstance, engine: Engine): boolean {
  const row = engine.catalog.session(id);
  const isCurrent = row?.state === "running" && row.instance === instance.id;
  return isCurrent && engine.live.get(id) === undefined;
}

/** Resolves when the processes of an instance have ended. */
async function awaitEnd(
  instance: LivingInstance,
  engine: Engine,
  signal: AbortSignal,
): Promise<null> {
  for (let intervalMs = END_POLL_INTERVAL_MS; !signal.aborted && isAlive(instance, engine); ) {
    await delay(intervalMs, undefined, { ref: false });
    intervalMs = Math.min(intervalMs * 1.1, CALL_AGAIN_MS);
  }
  return null;
}

/** The last daemon died while it ended the processes: of what is left of them nobody wants anything. */
async function noteStopped(
  session: SessionRow,
  { id, endedFor }: InstanceRow,
  engine: Engine,
): Promise<void> {
  engine.logger.info("the end of a session is finished", { session: session.name, endedFor });
  engine.catalog.updateSession(session.id, { state: "stopped" });
  await endInstance(id, engine);
}

async function noteEnd(
  session: SessionRow,
  instance: InstanceRow | undefined,
  engine: Engine,
): Promise<void> {
  if (instance !== undefined && (await hasLostMemory(instance.id, engine))) {
    const again = await restoreAgain(session.id, instance.id, engine);
    if (again !== null) return adoptInstance(again, engine);
  }
  engine.logger.warn("a session has ended meanwhile", { session: session.name });
  engine.catalog.updateSession(session.id, { state: "ended" });
  if (instance !== undefined) await endInstance(instance.id, engine);
}
