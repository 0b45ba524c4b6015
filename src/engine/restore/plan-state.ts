import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { RestoreParts, RestorePlan } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";

/** Returns which keys of the agent's state a restore would change; none where the state stays. */
export function planState(
  session: SessionRow,
  checkpoint: CheckpointRow,
  { only }: RestoreParts,
  { agentStates }: Engine,
): RestorePlan["state"] {
  if (only !== null && only !== "state") return [];
  return agentStates.changedKeys(session.agentState, checkpoint.agentState);
}
