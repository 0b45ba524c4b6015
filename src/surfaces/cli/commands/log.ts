import { call, type Invocation, printLong } from "../context.ts";
import { renderTimeline } from "../timeline/render-timeline.ts";

/** Shows the timeline. */
export async function run({ context, input }: Invocation<object, "log">): Promise<undefined> {
  const log = await call(context, "log", input);
  const { columns, paint } = context.output;
  const render = (shown: typeof log) =>
    renderTimeline(shown, { nowMs: context.nowMs, columns, paint });
  await printLong(context, log, render, { isNewestLast: true });
}
