import { call, type Invocation, printResult } from "../context.ts";
import { printable } from "../text/printable.ts";
import { shownCommand } from "../text/secrets.ts";

/** Denies a step that waits. */
export async function run({ context, input }: Invocation<object, "deny">): Promise<undefined> {
  const denied = await call(context, "deny", input);
  await printResult(context, denied, ({ id, sessionName, command }) => [
    `Denied step ${id} of ${printable(sessionName)}: ${shownCommand(command)}`,
  ]);
}
