import type { MomentPair, ReadingEngine } from "../moment/index.ts";
import { type SessionStart, sessionStart } from "../session/index.ts";

/** Returns what the session of a checkpoint began with; `null` where nobody has noted it. */
export async function startOf(
  { to }: MomentPair,
  engine: ReadingEngine,
): Promise<SessionStart | null> {
  const { checkpoint } = to;
  if (checkpoint === null) return null;
  return await to.once("session-start", () => sessionStart(checkpoint.session, engine));
}
