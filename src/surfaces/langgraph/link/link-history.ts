import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { hasCode } from "../../../shared/errors/index.ts";
import { type Link, linkOf } from "./link-record.ts";
import type { LinkableSession, LinkableStory } from "./linkable-session.ts";

/** A step of a graph, with what it changed on the machine. */
export interface LinkedStep<S extends LinkableSession = LinkableSession> {
  /** The checkpoint of the graph, as `list` has it. */
  tuple: CheckpointTuple;
  /** Its machine; null for a checkpoint that is not linked. */
  link: Link | null;
  /** In brief what changed since the checkpoint of the machine before; null where none was taken. */
  summary: string | null;
  /** All of that; null where none was taken, or it was removed since. */
  story: Awaited<ReturnType<S["show"]>> | null;
  /** The machine of this step was removed: the graph cannot go on from here. */
  isGone: boolean;
}

/** Returns a step with what its checkpoint of the machine tells. */
export async function tellStep<S extends LinkableSession>(
  tuple: CheckpointTuple,
  sessionOf: (link: Link) => Promise<S>,
): Promise<LinkedStep<S>> {
  const link = linkOf(tuple) ?? null;
  if (link === null) return { tuple, link, summary: null, story: null, isGone: false };
  const shown = await show(link, sessionOf);
  const story = link.taken ? shown : null;
  const summary = story?.changes.summary ?? null;
  const isGone = shown === null;
  return { tuple, link, summary, story: story as LinkedStep<S>["story"], isGone };
}

async function show<S extends LinkableSession>(
  link: Link,
  sessionOf: (link: Link) => Promise<S>,
): Promise<LinkableStory | null> {
  try {
    return await (await sessionOf(link)).show(link.checkpoint);
  } catch (error) {
    const isGone = hasCode(error, "CHECKPOINT_NOT_FOUND") || hasCode(error, "GRAPH_MACHINE_GONE");
    if (isGone) return null;
    throw error;
  }
}
