import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { chooseOptions, type LinkOptions, type LinkPolicy } from "./link-options.ts";
import type { LinkableSession } from "./linkable-session.ts";
import { LinkedSaver } from "./linked-saver.ts";

export type { LinkedStep } from "./link-history.ts";
export type { Link } from "./link-record.ts";
export type { LinkableState, LinkableStory } from "./linkable-session.ts";
export type { LinkableSession, LinkedSaver, LinkOptions, LinkPolicy };

/**
 * Links a graph and a session: each checkpoint of the graph has the machine of the same moment, and
 * whatever brings the graph back brings the machine back, too.
 *
 * Any saver can be linked; the link is in the metadata of its checkpoints, under `waypoint`. Runs of the
 * graph need `durability: "sync"`. Tools work in `linked.sessionOf(config)`.
 *
 * @throws USAGE_INVALID  an option is not one of its values.
 */
export function linkSession<S extends LinkableSession>(
  saver: BaseCheckpointSaver,
  session: S,
  options: LinkOptions<S> = {},
): LinkedSaver<S> {
  return new LinkedSaver(saver, session, chooseOptions(options));
}
