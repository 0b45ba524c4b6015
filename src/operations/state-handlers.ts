import { changeState } from "../engine/agent-state/index.ts";
import type { Engine } from "../engine/ports/index.ts";
import type { StateRoot } from "../portable/agent-state/index.ts";
import { resolveMoment } from "../portable/lineage/index.ts";
import type { StateSummary } from "../shared/protocol/index.ts";
import type { HandlersOf } from "./operation-handler.ts";
import { withSession } from "./with-session.ts";

/** What is sent at once of a long value. */
const PIECE_BYTES = 1024 * 1024;

/** What each operation on an agent's state does. */
export const STATE_HANDLERS: HandlersOf<"state" | "state.set"> = {
  state: async ({ moment, key }, engine, client) => {
    const root = stateAt(moment, engine);
    if (key === undefined) return { ...summaryOf(root, engine), value: null };
    const { value, ...facts } = engine.agentStates.read(root, key);
    const bytes = Buffer.from(JSON.stringify(value));
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      await client.send("stdout", bytes.subarray(at, at + PIECE_BYTES));
    }
    return { ...summaryOf(root, engine), value: facts };
  },

  "state.set": ({ session, ifVersion, ...change }, engine, client) =>
    withSession(session, engine, client, async (row) =>
      summaryOf(changeState(row, change, engine, ifVersion), engine),
    ),
};

/** Returns the state of a session now, or of a checkpoint. */
export function stateAt(reference: string, { catalog }: Engine): StateRoot {
  const moment = resolveMoment(reference, catalog);
  return "session" in moment ? moment.session.agentState : moment.checkpoint.agentState;
}

function summaryOf(root: StateRoot, { agentStates }: Engine): StateSummary {
  return { version: agentStates.versionOf(root), keys: agentStates.keysOf(root) };
}
