import type { StateRoot } from "../../portable/agent-state/index.ts";
import { ACCOUNT_CHARS_MAX, accountOf } from "../../portable/decisions/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { RestoreParts } from "../../shared/protocol/index.ts";
import { decisionsOf } from "../decisions/index.ts";
import type { Engine } from "../ports/index.ts";

/** Whether what was learned since is told to the agent whose state goes back. */
export interface AccountChoice {
  /** The list of the state that it is appended to. @defaultValue none: it is not told */
  account?: string | undefined;
  accountRole?: string | undefined;
}

/** What is told, and the state that has it; without one the checkpoint's state is put back as it is. */
export interface Account {
  text: string | null;
  /** Makes the state; to be called in the step that makes it the session's. */
  state?: () => StateRoot;
}

/**
 * Returns an account of what was decided and learned on what a restore leaves, or left before: what an
 * agent that goes on from the checkpoint does not know.
 *
 * **On failure** nothing was changed.
 *
 * @throws USAGE_INVALID  no conversation goes back, or what is kept under the key is no list.
 * @throws STATE_TOO_LARGE | STORE_FULL
 */
export function accountFor(
  session: SessionRow,
  checkpoint: CheckpointRow,
  { only }: RestoreParts,
  { account: key, accountRole: role = "system" }: AccountChoice,
  engine: Engine,
): Account {
  if (key === undefined) return { text: null };
  if (only !== null && only !== "state") {
    throw new WaypointError(
      "USAGE_INVALID",
      "An account goes with the agent's state, which stays.",
      {
        hint: "Restore all of the checkpoint or the state, or leave --account out.",
      },
    );
  }
  const then = { ...session, head: checkpoint.id, instance: null };
  const left = decisionsOf(then, engine).filter(({ isLeft }) => isLeft);
  if (left.length === 0) return { text: null };
  const at = checkpoint.name ?? checkpoint.id;
  const text = `Known from branches that were left, after going back to ${at}:\n${accountOf(left, ACCOUNT_CHARS_MAX)}`;
  const append = { [key]: [{ role, content: text }] };
  const state = () =>
    engine.agentStates.change(checkpoint.agentState, { set: {}, append, remove: [] });
  // Once in advance: what cannot be appended ends the restore before anything is done.
  refuseInTime(state);
  return { text, state };
}

function refuseInTime(state: () => StateRoot): void {
  try {
    state();
  } catch (error) {
    if (!(error instanceof WaypointError)) throw error;
    throw new WaypointError(error.code, error.message, {
      hint: "Nothing was restored. Name a list for the account, or leave it out.",
      detail: error.detail,
      cause: error,
    });
  }
}
