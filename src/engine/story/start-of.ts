import { type SessionStart, sessionStart } from "../session/index.ts";
import type { MomentPair } from "./section.ts";
import type { StoryEngine } from "./story-engine.ts";

/** Returns what the session of a checkpoint began with; `null` where nobody has noted it. */
export async function startOf(
  { to }: MomentPair,
  engine: StoryEngine,
): Promise<SessionStart | null> {
  const { checkpoint } = to;
  if (checkpoint === null) return null;
  return await to.once("session-start", () => sessionStart(checkpoint.session, engine));
}
