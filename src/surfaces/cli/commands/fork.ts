import { call, type Invocation, printResult } from "../context.ts";
import { renderLeftOut } from "../render-binds.ts";
import { printable } from "../text/printable.ts";
import { formatAge, formatDuration } from "../text/quantities.ts";

/** Starts new sessions from a checkpoint. */
export async function run({ context, input }: Invocation<object, "fork">): Promise<undefined> {
  const result = await call(context, "fork", input);
  await printResult(context, result, (forked) => [
    ...forked.sessions.map(({ id, name }) => `Session ${printable(name)} is running (${id})`),
    `From checkpoint ${forked.checkpoint}, ${formatAge(forked.takenAt, context.nowMs)} old.`,
    ...renderLeftOut(forked.bindsLeftOut),
    `Ready in ${formatDuration(forked.readyMs)}.`,
  ]);
}
