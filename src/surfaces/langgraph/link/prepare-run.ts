import type { RunnableConfig } from "@langchain/core/runnables";
import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { hasCode } from "../../../shared/errors/index.ts";
import { dropUnfinished } from "./drop-unfinished.ts";
import type { ChosenOptions } from "./link-options.ts";
import { type Link, linkOf, restOf } from "./link-record.ts";
import type { LinkableSession } from "./linkable-session.ts";
import { moveBack, placeOf } from "./move-machine.ts";
import { checkpointIdOf, configOf, threadOf } from "./run-config.ts";
import type { ThreadSessions } from "./thread-sessions.ts";

/** What is prepared, and with what. */
interface Preparation<S extends LinkableSession> {
  saver: BaseCheckpointSaver;
  sessions: ThreadSessions<S>;
  options: ChosenOptions<S>;
}

/** Where a run begins: in the graph and on the machine. */
export interface Beginning<S> {
  tuple: CheckpointTuple | undefined;
  session: S;
  link: Link;
}

/**
 * Brings the machine to where a run begins: that of the checkpoint that its config names, or of the newest
 * one of its thread. A thread that is new, or was there before it was linked, begins with what is there.
 *
 * The newest checkpoint stands for the machine as its step was left, where an interrupt has left it.
 *
 * **On failure** the graph can be run again: the session is where it was or where it was to be.
 *
 * @throws GRAPH_CONFLICT | GRAPH_MACHINE_GONE, and as the session's `checkpoint` and `restore`
 */
export async function prepareRun<S extends LinkableSession>(
  config: RunnableConfig,
  { saver, sessions, options }: Preparation<S>,
): Promise<Beginning<S>> {
  const thread = threadOf(config);
  const tuple = await saver.getTuple(config);
  const link = linkOf(tuple);
  if (tuple === undefined || link === undefined) {
    const { session, forkedFrom } = await sessions.own(thread, undefined);
    return { tuple, session, link: forkedFrom ?? (await capture(session, options)) };
  }
  try {
    return await goOn(thread, tuple, link, { saver, sessions, options }, config);
  } catch (error) {
    if (options.onMissing === "error" || !hasCode(error, "GRAPH_MACHINE_GONE")) throw error;
    const { session } = await sessions.own(thread, undefined);
    return { tuple, session, link: await capture(session, options) };
  }
}

async function goOn<S extends LinkableSession>(
  thread: string,
  tuple: CheckpointTuple,
  link: Link,
  { saver, sessions, options }: Preparation<S>,
  config: RunnableConfig,
): Promise<Beginning<S>> {
  const isNewest = await isNewestOf(saver, thread, tuple, config);
  const rest = isNewest ? restOf(tuple) : undefined;
  const target = rest ?? link;
  const { session, forkedFrom } = await sessions.own(thread, target);
  const begun = { session, link: forkedFrom ?? { ...target, taken: false } };
  if (forkedFrom !== undefined) return { tuple, ...begun };
  const place = await placeOf(session, target);
  if (place === "there") return { tuple, ...begun };
  if (options.move === "fork" && isBranch(tuple, isNewest)) {
    const fork = await sessions.fork(session, thread, target);
    return { tuple, session: fork.session, link: fork.forkedFrom ?? target };
  }
  const left = isNewest ? await dropUnfinished(saver, thread, tuple, { link, rest }) : tuple;
  const to = left === tuple ? target : link;
  await moveBack(session, to, { place, only: options.only });
  // The agent's state is that of then: a thread may have had the session that is gone by now.
  await sessions.own(thread, to);
  return { tuple: left, session, link: { ...to, taken: false } };
}

async function isNewestOf(
  saver: BaseCheckpointSaver,
  thread: string,
  { checkpoint }: CheckpointTuple,
  config: RunnableConfig,
): Promise<boolean> {
  if (checkpointIdOf(config) === undefined) return true;
  return (await saver.getTuple(configOf(thread)))?.checkpoint.id === checkpoint.id;
}

/** Tells a run that leaves its thread's line from one that goes on after its process was killed. */
function isBranch({ metadata }: CheckpointTuple, isNewest: boolean): boolean {
  return !isNewest || metadata?.source === "update" || metadata?.source === "fork";
}

async function capture<S extends LinkableSession>(
  session: S,
  { durable }: ChosenOptions<S>,
): Promise<Link> {
  const { id } = await session.checkpoint({ ifChanged: true, durable });
  return { session: session.id, checkpoint: id, taken: true };
}
