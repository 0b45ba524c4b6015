import { type Decision, isOnLine } from "../../portable/decisions/index.ts";
import { ancestry } from "../../portable/lineage/index.ts";
import type { SessionRow } from "../../portable/model/index.ts";
import type { Engine } from "../ports/index.ts";

/** Returns the session that all branches of a session come from, also where that was removed. */
export function treeOf({ id, head }: SessionRow, { catalog }: Pick<Engine, "catalog">): string {
  return ancestry(head, catalog).at(-1)?.session ?? id;
}

/** Returns what was decided in a session's tree, oldest first, each with whether it was left. */
export function decisionsOf(
  session: SessionRow,
  engine: Pick<Engine, "catalog" | "decisions">,
): (Decision & { isLeft: boolean })[] {
  const checkpoints = new Set(ancestry(session.head, engine.catalog).map(({ id }) => id));
  const line = { session: session.id, instance: session.instance, checkpoints };
  return engine.decisions
    .of(treeOf(session, engine))
    .map((decision) => ({ ...decision, isLeft: !isOnLine(decision, line) }));
}

/**
 * Notes which checkpoint comes after what was decided beside an instance. The checkpoint is there
 * already, whatever becomes of this.
 */
export function captureDecisions(
  instance: string | null,
  checkpoint: string,
  { decisions, logger }: Pick<Engine, "decisions" | "logger">,
): void {
  if (instance === null) return;
  try {
    decisions.capture(instance, checkpoint);
  } catch (error) {
    logger.error("note the decisions before a checkpoint", error, { checkpoint });
  }
}
