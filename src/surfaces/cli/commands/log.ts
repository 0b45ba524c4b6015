import { call, type Invocation, printLong } from "../context.ts";
import { renderTimeline } from "../timeline/render-timeline.ts";

/** Shows the timeline. */
export async function run({ context, input }: Invocation<object, "log">): Promise<undefined> {
  const log = await call(context, "log", input);
  const { columns, paint } = context.output;
  await printLong(context, log, (shown) =>
    renderTimeline(shown, { nowMs: context.nowMs, columns, paint }),
  );
}
