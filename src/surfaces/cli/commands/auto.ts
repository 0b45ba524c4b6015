import type { OperationOutput } from "../../../shared/protocol/index.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { withoutUndefined } from "../session-options.ts";
import { printable } from "../text/printable.ts";
import { formatMinute } from "../text/quantities.ts";
import { layoutFields } from "../text/table.ts";

/** Shows, chooses or pauses a session's automatic checkpoints. */
export async function run({
  context,
  input: { policy: word, ...input },
}: Invocation<object, "auto">): Promise<undefined> {
  const isPause = word === "pause" || word === "resume";
  const choice = isPause ? { paused: word === "pause" } : withoutUndefined({ policy: word });
  const auto = await call(context, "auto", { ...input, ...choice });
  await printResult(context, auto, (shown) => renderAuto(shown, input.taskDone !== undefined));
}

function renderAuto(auto: OperationOutput<"auto">, isTaskDone: boolean): string[] {
  const { policy, isDefault, pausedSince, failure, retryAt, isScheduled } = auto;
  const whyNot = pausedSince === null ? `${policy} takes none after tasks` : "it is paused";
  const field = (name: string, value: string | null): [string, string][] =>
    value === null ? [] : [[name, value]];
  return layoutFields([
    ["Policy", isDefault ? `${policy} (the daemon's default)` : policy],
    ...field("Paused", pausedSince === null ? null : `since ${formatMinute(pausedSince)}`),
    ...field("Under way", isScheduled ? "one" : null),
    ...field("Task", isTaskDone && !isScheduled ? `not captured: ${whyNot}` : null),
    ...field(
      "Failed",
      failure === null ? null : `${formatMinute(failure.at)}: ${printable(failure.message)}`,
    ),
    ...field("Tried again", retryAt === null ? null : `not before ${formatMinute(retryAt)}`),
  ]);
}
