import type { OperationOutput } from "../protocol/index.ts";
import { renderLeftOut } from "./render-binds.ts";
import { printable } from "./text/printable.ts";
import { formatDuration } from "./text/quantities.ts";

/** Returns what a person is told after a restore or an undo: where, how fast, and the way back. */
export function renderMove(options: {
  moved: OperationOutput<"restore"> | OperationOutput<"undo">;
  sessionRef: string;
  verb: string;
}): string[] {
  const { moved, verb } = options;
  const session = printable(options.sessionRef);
  const ready = `${formatDuration(moved.readyMs)}, with its checkpoint ${formatDuration(moved.totalMs)}`;
  if (moved.undo === null) {
    return [
      `Session ${session} ${verb} ${moved.checkpoint}`,
      ...renderLeftOut(moved.bindsLeftOut),
      `Ready in ${ready}.`,
    ];
  }
  return [
    `Session ${session} ${verb} ${moved.checkpoint}`,
    ...renderLeftOut(moved.bindsLeftOut),
    `What it had before is checkpoint ${moved.undo}`,
    `Ready in ${ready}. Take it back with \`waypoint undo ${session}\`.`,
  ];
}
