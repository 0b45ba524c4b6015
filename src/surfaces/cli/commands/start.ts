import type { OperationOutput } from "../../../shared/protocol/index.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { renderLeftOut } from "../render-binds.ts";
import { printable } from "../text/printable.ts";
import { formatAge } from "../text/quantities.ts";

/** Starts a session again whose processes have ended. */
export async function run({ context, input }: Invocation<object, "start">): Promise<undefined> {
  const result = await call(context, "start", input);
  await printResult(context, result, (started) => renderStart(started, context.nowMs));
}

function renderStart(started: OperationOutput<"start">, nowMs: number): string[] {
  const name = printable(started.session.name);
  const age = formatAge(started.takenAt, nowMs);
  return [
    started.hasProcesses
      ? `Session ${name} runs again, as it was at ${started.checkpoint} (${age} ago).`
      : `Session ${name} runs again: a new shell on its files; its processes did not come back.`,
    ...(started.undo === null
      ? []
      : [`Its files as they were left are in ${started.undo}: \`waypoint undo ${name}\`.`]),
    ...renderLeftOut(started.bindsLeftOut),
  ];
}
