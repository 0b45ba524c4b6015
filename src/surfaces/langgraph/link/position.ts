import type { Checkpoint, CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import type { ChosenOptions } from "./link-options.ts";
import type { Link } from "./link-record.ts";
import type { LinkableSession } from "./linkable-session.ts";
import { ranOf } from "./tool-results.ts";

/** Where a thread's run is, in the graph and on the machine. */
export interface Position<S> {
  /** Stands for the run. */
  run: unknown;
  /** Stands for it in other processes. */
  mark: string;
  /** First process of the session where it began. */
  pid: number | null | undefined;
  checkpointId: string | undefined;
  session: S;
  link: Link;
  /** A tool has answered since the link was taken. */
  hasToolRun: boolean;
  /** Which nodes had run when it was taken. */
  ran: string;
  /** A node was interrupted, so the step does not come to its end. */
  isLeft: boolean;
  /** Checkpoint of which it is noted that subgraphs of its step have checkpoints of their own. */
  nestedIn: string | undefined;
  /** What its tasks wrote is being kept; the end of their step waits for that. */
  writing: Promise<unknown> | undefined;
}

/** Nothing has run between a run's beginning and what it puts first: only a step's end is captured. */
export async function linkOfStep<S extends LinkableSession>(
  position: Position<S>,
  { checkpoint, metadata }: { checkpoint: Checkpoint; metadata: CheckpointMetadata },
  options: ChosenOptions<S>,
): Promise<Link> {
  const { policy, toolNodes } = options;
  if (metadata.source !== "loop") return position.link;
  const hasToolRun = position.hasToolRun || ranOf(checkpoint, toolNodes) !== position.ran;
  if (policy === "tools" && !hasToolRun) return { ...position.link, taken: false };
  return await capture(position, `graph step ${metadata.step}`, options);
}

/** Captures the machine of a run, as the policy has it. */
export async function capture<S extends LinkableSession>(
  { session, link }: Position<S>,
  intent: string,
  { policy, durable }: ChosenOptions<S>,
): Promise<Link> {
  const ifChanged = policy === "changed";
  const { id } = await session.checkpoint({ intent, ifChanged, durable });
  return { session: session.id, checkpoint: id, taken: id !== link.checkpoint };
}
