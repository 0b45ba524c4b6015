import { call, type Invocation, printResult } from "../context.ts";
import { formatDuration } from "../text/quantities.ts";
import { layoutFields } from "../text/table.ts";

/** Shows or chooses what a person has to approve in a session. */
export async function run({ context, input }: Invocation<object, "approval">): Promise<undefined> {
  const shown = await call(context, "approval", input);
  await printResult(context, shown, ({ commands, destinations, methods, timeoutMs }) =>
    timeoutMs === null
      ? ["No step has to be approved."]
      : layoutFields([
          ["Commands", commands.map((words) => words.join(" ")).join(", ")],
          ["To", destinations.join(", ")],
          ["Requests", methods.join(", ")],
          ["Time", formatDuration(timeoutMs)],
        ]),
  );
}
