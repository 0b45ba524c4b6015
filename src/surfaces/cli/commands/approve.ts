import { call, type Invocation, printResult } from "../context.ts";
import { printable } from "../text/printable.ts";
import { shownCommand } from "../text/secrets.ts";

/** Approves a step that waits. */
export async function run({ context, input }: Invocation<object, "approve">): Promise<undefined> {
  const approved = await call(context, "approve", input);
  await printResult(context, approved, ({ id, sessionName, command, isWaitedFor }) => [
    `Approved step ${id} of ${printable(sessionName)}: ${shownCommand(command)}`,
    ...(isWaitedFor ? [] : ["Nobody waits for it now: the same command runs it."]),
  ]);
}
