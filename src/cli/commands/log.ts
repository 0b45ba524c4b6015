import { call, type Invocation, printResult } from "../context.ts";
import { renderTimeline } from "../timeline/render-timeline.ts";

/** Shows the timeline. */
export async function run({ context, args }: Invocation): Promise<undefined> {
  const [session] = args;
  const log = await call(context, "log", session === undefined ? {} : { session });
  const { columns, paint } = context.output;
  await printResult(context, log, (shown) =>
    renderTimeline(shown, { nowMs: context.nowMs, columns, paint }),
  );
}
