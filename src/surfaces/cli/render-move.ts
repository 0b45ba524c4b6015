import type {
  CheckpointContent,
  FilesPut,
  OperationInput,
  OperationOutput,
} from "../../shared/protocol/index.ts";
import { renderCheck } from "./going-back/render-check.ts";
import { describePaths, renderFilesPut } from "./going-back/render-files-put.ts";
import { renderLeftOut } from "./render-binds.ts";
import { printable } from "./text/printable.ts";
import { formatDuration } from "./text/quantities.ts";

type Moved = OperationOutput<"restore"> | OperationOutput<"undo">;

/** What a restore or an undo may lose, as it was typed. */
export type LossOptions = Pick<OperationInput<"restore">, "loseProcesses" | "withoutUndo">;

/** Returns what happens to what is there now, for the question before it. */
export function lossSentence({ withoutUndo }: LossOptions): string {
  return withoutUndo === true
    ? "What it has now is lost; there is no undo."
    : "What it has now is checkpointed first.";
}

/** Returns what a person is told after a restore or an undo: where, how fast, and the way back. */
export function renderMove(options: {
  moved: Moved;
  sessionRef: string;
  verb: string;
  loss: LossOptions;
}): string[] {
  const { moved, verb, loss } = options;
  const session = printable(options.sessionRef);
  const name = moved.checkpointName;
  const at = name === null ? moved.checkpoint : `${printable(name)} (${moved.checkpoint})`;
  if (moved.parts.only === "state") return renderState(moved, { session, at });
  if (moved.files !== null) return renderParts(moved, moved.files, { session, at });
  const checked = moved.check === null ? [] : [renderCheck(moved.check)];
  const fresh =
    moved.checkpointContent === "files"
      ? ", with a fresh shell; its processes were not captured"
      : "";
  const ready = `${formatDuration(moved.readyMs)}, with its checkpoint ${formatDuration(moved.totalMs)}`;
  const part =
    moved.parts.only === "processes"
      ? ", on its files as they are now"
      : moved.parts.only === "machine"
        ? "; its agent's state stays"
        : "";
  const where = `Session ${session} ${verb} ${at}${fresh}${part}`;
  const leftOut = renderLeftOut(moved.bindsLeftOut);
  if (moved.undo === null) {
    const ready = `Ready in ${formatDuration(moved.readyMs)}. There is no undo.`;
    return [where, ...leftOut, ...checked, ready];
  }
  return [
    where,
    ...leftOut,
    `Undo point: ${moved.undo}`,
    ...warnOfLoss(moved, loss),
    ...checked,
    `Ready in ${ready}. Take it back with \`waypoint undo ${session}\`.`,
  ];
}

/** The machine went on, and its files stay. */
function renderState({ undo }: Moved, { session, at }: { session: string; at: string }): string[] {
  return [
    `The agent of session ${session} has its state of ${at} again; the machine goes on`,
    undo === null
      ? "There is no undo."
      : `Undo point: ${undo}. Take it back with \`waypoint undo ${session}\`.`,
  ];
}

/** What runs in the session went on. */
function renderParts(
  moved: Moved,
  files: FilesPut,
  { session, at }: { session: string; at: string },
): string[] {
  const what = describePaths(moved.parts);
  if (files.put + files.removed + files.leftOutCount === 0 && moved.undo === null) {
    return [`Session ${session} has these files as in ${at} already${what}; nothing was changed.`];
  }
  return [
    `Session ${session} has files of ${at} again${what}; what runs goes on`,
    ...renderFilesPut(files),
    ...(moved.check === null ? [] : [renderCheck(moved.check)]),
    moved.undo === null
      ? "There is no undo."
      : `Undo point: ${moved.undo}. Take it back with \`waypoint undo ${session}\`.`,
  ];
}

function warnOfLoss(
  { undoContent }: { undoContent: CheckpointContent | null },
  { loseProcesses }: LossOptions,
): string[] {
  if (undoContent !== "files") return [];
  // Without leave to lose processes, files alone means that none ran.
  return loseProcesses === true
    ? ["Warning: its processes could not be captured; undo brings back files only."]
    : ["It was not running; undo brings back its files."];
}
