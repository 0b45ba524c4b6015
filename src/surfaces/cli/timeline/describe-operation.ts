import type { OperationRecord, Session } from "../../../shared/protocol/index.ts";
import { printable } from "../text/printable.ts";
import { formatDuration } from "../text/quantities.ts";

/** Returns what an operation did, in a sentence without a full stop. */
export function describeOperation(
  operation: OperationRecord,
  known: { sessions: readonly Session[]; ids: ReadonlyMap<string, string> },
): string {
  const session = known.sessions.find(({ id }) => id === operation.session);
  const name = printable(session?.name ?? operation.session);
  const short = (id: string | null) => (id === null ? "nothing" : (known.ids.get(id) ?? id));
  const took = operation.readyMs === null ? "" : `, ${formatDuration(operation.readyMs)}`;
  const undo = operation.undo === null ? "" : `, before it ${short(operation.undo)}`;
  switch (operation.kind) {
    case "new":
      return `+ ${name} started${took}`;
    case "fork":
      return `⑂ ${name} forked from ${short(operation.checkpoint)}${took}`;
    case "revert":
      return `↶ ${name} reverted to ${short(operation.checkpoint)} what had changed until ${short(operation.detail?.since ?? null)}${undo}${took}`;
    case "restore":
      if (operation.detail?.parts?.only === "files")
        return `↶ ${name} got files of ${short(operation.checkpoint)} back${undo}${took}`;
      if (operation.detail?.parts?.only === "state")
        return `↶ ${name} got its agent's state of ${short(operation.checkpoint)} back${undo}`;
      return `↶ ${name} restored to ${short(operation.checkpoint)}${undo}${took}`;
    case "undo":
      if (operation.detail?.parts?.only === "files")
        return `↷ ${name} took files back, to those of ${short(operation.checkpoint)}${undo}${took}`;
      return `↷ ${name} took the restore back, to ${short(operation.checkpoint)}${undo}${took}`;
    case "recover":
      return `! ${name} lost its memory in a lazy restore, restored again to ${short(operation.checkpoint)}${took}`;
    case "apply":
      if (operation.detail?.undoes != null)
        return `⇤ ${short(operation.checkpoint)} taken back from the machine`;
      return `⇥ ${short(operation.checkpoint)} applied to the machine`;
    case "merge":
      return `⋈ ${name} took ${short(operation.checkpoint)} in${undo}${took}`;
    case "stop":
      return `■ ${name} stopped`;
  }
}
