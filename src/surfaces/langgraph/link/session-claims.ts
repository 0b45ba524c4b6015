import { hasCode, WaypointError } from "../../../shared/errors/index.ts";
import type { LinkableSession } from "./linkable-session.ts";

/** Key of the agent's state under which a session keeps the thread that it belongs to. */
const THREAD_KEY = "langgraph.thread";
const CLAIM_TRIES_MAX = 5;

/** Returns the thread that a session belongs to; undefined for none, as for a fork of its session. */
export async function holderOf({ id, state }: LinkableSession): Promise<string | undefined> {
  const held = (await state.get(THREAD_KEY)) as { session?: unknown; thread?: unknown } | undefined;
  return held?.session === id && typeof held.thread === "string" ? held.thread : undefined;
}

/**
 * Makes a session a thread's own, unless it is another thread's; returns whether it is.
 *
 * @param isOver  tells of a thread that has the session whether it is gone
 */
export async function claim(
  session: LinkableSession,
  thread: string,
  isOver: (holder: string) => Promise<boolean>,
): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    const { version } = await session.state.keys();
    const holder = await holderOf(session);
    if (holder === thread) return true;
    if (holder !== undefined && !(await isOver(holder))) return false;
    const value = { thread, session: session.id };
    try {
      await session.state.update({ set: { [THREAD_KEY]: { value } }, ifVersion: version });
      return true;
    } catch (error) {
      if (!hasCode(error, "STATE_CONFLICT") || tries === CLAIM_TRIES_MAX) throw error;
    }
  }
}

/** Lets a session go that is a thread's own. */
export async function release(session: LinkableSession, thread: string): Promise<void> {
  if ((await holderOf(session)) === thread) await session.state.update({ remove: [THREAD_KEY] });
}

/** Says that a session is another thread's. */
export function conflictOf(
  session: LinkableSession,
  thread: string,
  holder: string | undefined,
): WaypointError {
  return new WaypointError(
    "GRAPH_CONFLICT",
    `Session ${session.name} is the machine of thread ${holder}; ${thread} would change it under it.`,
    {
      hint: 'Give each thread a session, or link with { onConflict: "fork" }; `deleteThread` lets one go.',
      detail: { session: session.id, thread, holder },
    },
  );
}
