import { ancestry } from "../../portable/lineage/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { RestorePlan } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";

/**
 * Returns what an agent handed over with the checkpoints that came after one, oldest first: its
 * messages, and the tasks that it said were done.
 */
export function agentMessagesSince(
  session: SessionRow,
  target: CheckpointRow,
  { catalog }: Engine,
): RestorePlan["told"] {
  const behind = new Set(ancestry(target.id, catalog).map(({ id }) => id));
  const since = ancestry(session.head, catalog).filter(({ id }) => !behind.has(id));
  return since.toReversed().flatMap(({ id, createdAt, agentSaid, autoCause, intent }) => {
    const about = { checkpoint: id, at: createdAt };
    const message = agentSaid === null ? [] : [{ ...about, kind: "message", text: agentSaid }];
    const isTask = autoCause === "task" && intent !== null;
    return [...message, ...(isTask ? [{ ...about, kind: "task", text: intent }] : [])] as const;
  }) as RestorePlan["told"];
}
