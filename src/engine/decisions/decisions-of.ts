import { type Decision, isOnLine, type Line } from "../../portable/decisions/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { Engine } from "../ports/index.ts";

/** Returns the session that all branches of a session come from, also where that was removed. */
export function treeOf({ id, head }: SessionRow, { catalog }: Pick<Engine, "catalog">): string {
  return catalog.line(head).at(-1)?.session ?? id;
}

/** Returns what was decided in a session's tree, oldest first, each with whether it was left. */
export function decisionsOf(
  session: SessionRow,
  engine: Pick<Engine, "catalog" | "decisions">,
): (Decision & { isLeft: boolean })[] {
  const line = lineOf(session, engine);
  return engine.decisions
    .of(treeOf(session, engine))
    .map((decision) => ({ ...decision, isLeft: !isOnLine(decision, line) }));
}

/** Returns what was decided in all sessions, oldest first: left is what its own session has left. */
export function allDecisions(
  engine: Pick<Engine, "catalog" | "decisions">,
): (Decision & { isLeft: boolean })[] {
  const lines = new Map<string, Line | null>();
  const lineOfSession = (id: string) => {
    const known = lines.get(id);
    if (known !== undefined) return known;
    const session = engine.catalog.session(id);
    const line = session === undefined ? null : lineOf(session, engine);
    lines.set(id, line);
    return line;
  };
  return engine.decisions.all().map((decision) => {
    const line = lineOfSession(decision.session);
    return { ...decision, isLeft: line === null || !isOnLine(decision, line) };
  });
}

function lineOf(
  { id, head, instance }: Pick<SessionRow, "id" | "head" | "instance">,
  { catalog }: Pick<Engine, "catalog">,
): Line {
  const checkpoints = new Set(catalog.line(head).map((row) => row.id));
  return { session: id, instance, checkpoints };
}

/**
 * Notes which checkpoint comes after what was decided beside an instance before it captured that. The checkpoint is
 * there already, whatever becomes of this.
 */
export function captureDecisions(
  instance: string | null,
  checkpoint: Pick<CheckpointRow, "id" | "createdAt">,
  { decisions, logger }: Pick<Engine, "decisions" | "logger">,
): void {
  if (instance === null) return;
  try {
    decisions.capture(instance, checkpoint.id, { until: checkpoint.createdAt });
  } catch (error) {
    logger.error("note the decisions before a checkpoint", error, { checkpoint: checkpoint.id });
  }
}
