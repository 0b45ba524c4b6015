import type { CheckpointContent, OperationOutput } from "../protocol/index.ts";
import { type CommandContext, call } from "./context.ts";
import { withoutUndefined } from "./session-options.ts";
import { printable } from "./text/printable.ts";
import { formatDuration } from "./text/quantities.ts";

/** What a restore or an undo may lose, as it was typed. */
export interface LossOptions {
  loseProcesses?: boolean;
  withoutUndo?: boolean;
}

/** Returns the part of the operation's input that says what may be lost. */
export function lossInput({ loseProcesses, withoutUndo }: LossOptions): {
  loseProcesses?: boolean;
  withoutUndo?: boolean;
} {
  return withoutUndefined({ loseProcesses, withoutUndo });
}

/** Returns what happens to what is there now, for the question before it. */
export function lossSentence({ withoutUndo }: LossOptions): string {
  return withoutUndo === true
    ? "What it has now is lost; there is no undo."
    : "What it has now is checkpointed first.";
}

/** Returns what a checkpoint holds; `null` for programs, which can ask themselves. */
export async function contentOf(
  context: CommandContext,
  checkpoint: string,
): Promise<CheckpointContent | null> {
  if (context.isJson) return null;
  return (await call(context, "show", { checkpoint })).content;
}

/** Returns what a person is told after a restore or an undo: where, how fast, and the way back. */
export function renderMove(options: {
  moved: OperationOutput<"restore"> | OperationOutput<"undo">;
  /** What the checkpoint holds at which the session is now. */
  content: CheckpointContent | null;
  sessionRef: string;
  verb: string;
  loss: LossOptions;
}): string[] {
  const { moved, verb, content, loss } = options;
  const session = printable(options.sessionRef);
  const fresh = content === "files" ? ", with a fresh shell; its processes were not captured" : "";
  const ready = `${formatDuration(moved.readyMs)}, with its checkpoint ${formatDuration(moved.totalMs)}`;
  const where = `Session ${session} ${verb} ${moved.checkpoint}${fresh}`;
  if (moved.undo === null) {
    return [where, `Ready in ${formatDuration(moved.readyMs)}. There is no undo.`];
  }
  return [
    where,
    `What it had before is checkpoint ${moved.undo}`,
    ...warnOfLoss(moved, loss),
    `Ready in ${ready}. Take it back with \`waypoint undo ${session}\`.`,
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
