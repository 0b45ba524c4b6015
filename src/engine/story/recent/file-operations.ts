import type { OperationRow } from "../../../portable/model/index.ts";
import type { MomentPair, ReadContext } from "../../moment/index.ts";

/** An operation that changed files under the programs of a session, and when it did. */
export interface FileOperation {
  /** "revert of 8aw7cy8ut7..qstz7mivhd". */
  text: string;
  startedAtMs: number;
  endedAtMs: number;
}

/** The clock by which the kernel notes changes of files is behind by up to a tick. */
const CLOCK_STEP_MS = 10;
/** Operations after which a session is another machine: what was before them is on another branch. */
const MOVES: ReadonlySet<OperationRow["kind"]> = new Set(["new", "fork", "recover"]);
/** Those that are about a whole session, or about some of its parts. */
const PARTIAL: ReadonlySet<OperationRow["kind"]> = new Set(["restore", "undo", "revert"]);

/** Returns the operations that changed files between two moments, oldest first. */
export function fileOperationsBetween(
  { from, to }: MomentPair,
  { engine }: ReadContext,
): FileOperation[] {
  const { checkpoint } = to;
  if (checkpoint === null) return [];
  const earlier = from.checkpoint?.createdAt ?? "";
  const known = engine.catalog.operations
    .all(checkpoint.session)
    .filter(({ at }) => at <= checkpoint.createdAt);
  const lastMove = known.findLastIndex(isMove);
  return known
    .slice(lastMove + 1)
    .filter((each) => each.at > earlier && isOfFiles(each))
    .map(describe);
}

function isMove({ kind, detail }: OperationRow): boolean {
  return MOVES.has(kind) || (PARTIAL.has(kind) && detail?.parts?.only == null);
}

/** One that was interrupted has left the files as they were. */
function isOfFiles({ kind, detail }: OperationRow): boolean {
  if (kind === "merge") return true;
  return PARTIAL.has(kind) && detail?.parts?.only === "files" && detail.state === "done";
}

function describe(operation: OperationRow): FileOperation {
  const atMs = Date.parse(operation.at);
  const endedAtMs = atMs + Math.ceil(operation.readyMs ?? 0);
  return { text: textOf(operation), startedAtMs: atMs - CLOCK_STEP_MS, endedAtMs };
}

function textOf({ kind, checkpoint, detail }: OperationRow): string {
  if (kind === "merge") return `merge of ${checkpoint}`;
  if (kind === "revert") return `revert of ${checkpoint}..${detail?.since ?? "-"}`;
  if (kind === "undo") return `undo of operation ${detail?.undoes ?? "-"}`;
  return `restore of files from ${checkpoint}`;
}
