import type { OperationInput } from "../../../shared/protocol/index.ts";
import { call, type Invocation, printLong } from "../context.ts";
import { renderTimeline } from "../timeline/render-timeline.ts";

/** Options are named as the operation's inputs are. */
type LogOptions = Omit<OperationInput<"log">, "session">;

/** Shows the timeline. */
export async function run({ context, args, options }: Invocation<LogOptions>): Promise<undefined> {
  const [session] = args;
  const log = await call(context, "log", {
    ...options,
    ...(session === undefined ? {} : { session }),
  });
  const { columns, paint } = context.output;
  await printLong(context, log, (shown) =>
    renderTimeline(shown, { nowMs: context.nowMs, columns, paint }),
  );
}
