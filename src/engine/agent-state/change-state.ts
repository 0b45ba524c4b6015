import type { StateChange, StateRoot } from "../../portable/agent-state/index.ts";
import type { SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Engine } from "../ports/index.ts";

/**
 * Changes the state of a session's agent and returns where it lies.
 *
 * **Requires** the caller holds the session's lease, and `session` is its row of now: so a change is
 * before a capture or after it.
 * **On failure** the state is as it was.
 *
 * @param ifVersion  what the state must be now, by its version. @defaultValue whatever it is
 * @throws STATE_CONFLICT | STATE_TOO_LARGE | USAGE_INVALID | STORE_FULL
 */
export function changeState(
  session: SessionRow,
  change: StateChange,
  { agentStates, catalog }: Engine,
  ifVersion?: string | null,
): StateRoot {
  const version = agentStates.versionOf(session.agentState);
  if (ifVersion !== undefined && ifVersion !== version) throw conflict(session, version);
  // The objects first: a row never leads to what is not there.
  const agentState = agentStates.change(session.agentState, change);
  catalog.updateSession(session.id, { agentState });
  return agentState;
}

function conflict({ name }: SessionRow, version: string | null): WaypointError {
  return new WaypointError(
    "STATE_CONFLICT",
    `The state of session ${name} is no longer the one that the change was made for.`,
    { hint: "Read it again, and change what is there now.", detail: { version } },
  );
}
