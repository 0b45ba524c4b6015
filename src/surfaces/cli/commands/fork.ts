import { call, type Invocation, printResult } from "../context.ts";
import { renderLeftOut } from "../render-binds.ts";
import { withoutUndefined } from "../session-options.ts";
import { printable } from "../text/printable.ts";
import { formatDuration } from "../text/quantities.ts";

interface ForkWords {
  count?: number;
  name?: string;
  pids?: number | null;
  withoutBinds?: boolean;
}

/** Starts new sessions from a checkpoint. */
export async function run({ context, args, options }: Invocation<ForkWords>): Promise<undefined> {
  const input = withoutUndefined({
    count: options.count,
    name: options.name,
    pids: options.pids,
    withoutBinds: options.withoutBinds,
  });
  const result = await call(context, "fork", { ...input, checkpoint: args[0] ?? "" });
  await printResult(context, result, ({ sessions, readyMs, bindsLeftOut }) => [
    ...sessions.map(({ id, name }) => `Session ${printable(name)} is running (${id})`),
    ...renderLeftOut(bindsLeftOut),
    `Ready in ${formatDuration(readyMs)}.`,
  ]);
}
