import { decisionsOf, treeOf } from "../engine/decisions/index.ts";
import type { Engine } from "../engine/ports/index.ts";
import { ACCOUNT_CHARS_MAX, accountOf, isMentioned } from "../portable/decisions/index.ts";
import { resolveSession } from "../portable/lineage/index.ts";
import type { SessionRow } from "../portable/model/index.ts";
import type { HandlersOf } from "./operation-handler.ts";
import { tellDecision } from "./tell-decision.ts";

/** What each operation on decisions does. */
export const DECISION_HANDLERS: HandlersOf<"note" | "lessons"> = {
  note: async ({ session: reference, choice, reason, alternatives }, engine) => {
    const session = resolveSession(reference, engine.catalog);
    const noted = engine.decisions.add({
      ...{ session: session.id, tree: treeOf(session, engine), instance: session.instance },
      ...{ at: new Date().toISOString(), choice: engine.redact(choice) },
      reason: reason === undefined ? null : engine.redact(reason),
      alternatives: alternatives.map(engine.redact),
      ...besideOf(session, engine),
    });
    return tellDecision({ ...noted, isLeft: false }, engine);
  },

  lessons: async ({ session: reference, all, grep }, engine) => {
    const session = resolveSession(reference, engine.catalog);
    const wanted = decisionsOf(session, engine).filter(
      (decision) => (all || decision.isLeft) && (grep === undefined || isMentioned(decision, grep)),
    );
    const account = accountOf(wanted, ACCOUNT_CHARS_MAX);
    return { decisions: wanted.map((each) => tellDecision(each, engine)), account };
  },
};

/** The task and the command that it stands beside. */
function besideOf({ agentState, instance }: SessionRow, engine: Engine) {
  const task = engine.agentStates
    .tasksOf(agentState)
    .find(({ status }) => status === "in-progress");
  const last = instance === null ? undefined : engine.journal.lastOf(instance);
  return {
    task: task === undefined ? null : `${task.id} ${task.title}`.trimEnd(),
    command: last === undefined ? null : engine.redact(last.command),
  };
}
