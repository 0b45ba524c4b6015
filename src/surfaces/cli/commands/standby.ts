import type { OperationOutput } from "../../../shared/protocol/index.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { layoutFields } from "../text/table.ts";

/** Shows, or chooses, what is kept on standby for a session. */
export async function run({ context, input }: Invocation<object, "standby">): Promise<undefined> {
  await printResult(context, await call(context, "standby", input), renderStandby);
}

function renderStandby(standby: OperationOutput<"standby">): string[] {
  const { policy, isDefault, ready, reason } = standby;
  return layoutFields([
    ["Policy", isDefault ? `${policy} (the daemon's default)` : policy],
    ["Ready", ready.length === 0 ? "none" : ready.join(", ")],
    ...(reason === null ? [] : [["Paused", reason] as [string, string]]),
  ]);
}
