import { findBaseChanges, renderBaseChanges, withBaseChanges } from "../base-changes.ts";
import { noiseFor } from "../config/use-config.ts";
import { call, type Invocation, printLong } from "../context.ts";
import { renderTimeline } from "../timeline/render-timeline.ts";

/** Shows the timeline. */
export async function run({
  context,
  options: { baseChanges = false },
  input,
}: Invocation<{ baseChanges?: boolean }, "log">): Promise<undefined> {
  const noise = context.isJson ? [] : await noiseFor(context);
  const log = await call(context, "log", input);
  const { columns, paint } = context.output;
  const oldest = log.checkpoints[0]?.id;
  const changed = oldest === undefined ? null : await findBaseChanges(context, oldest, baseChanges);
  const drawn = { nowMs: context.nowMs, command: input.command };
  const render = (shown: typeof log) => [
    ...renderTimeline(shown, { ...drawn, columns, paint, noise }),
    ...renderBaseChanges(changed, context.nowMs),
  ];
  await printLong(context, withBaseChanges(log, changed), render, { isNewestLast: true });
}
