import type { Engine } from "../engine/ports/index.ts";
import type { Decision as NotedDecision } from "../portable/decisions/index.ts";
import type { Decision } from "../shared/protocol/index.ts";

/** Returns a decision as the outside sees it. */
export function tellDecision(
  { instance: _, tree: _t, ...decision }: NotedDecision & { isLeft: boolean },
  { catalog }: Engine,
): Decision {
  return { ...decision, sessionName: catalog.session(decision.session)?.name ?? null };
}
