import type { Session } from "../../../shared/protocol/index.ts";
import { startSession } from "../config/use-config.ts";
import { type Invocation, printResult } from "../context.ts";
import { renderBinds } from "../render-binds.ts";
import { printable } from "../text/printable.ts";

/** Starts a session. */
export async function run({ context, input }: Invocation<object, "new">): Promise<undefined> {
  const session = await startSession(context, input);
  await printResult(context, session, renderNew);
}

function renderNew({ id, name, binds }: Session): string[] {
  return [
    `Session ${printable(name)} is running (${id})`,
    ...renderBinds(binds),
    `Attach with \`waypoint attach ${printable(name)}\`, run a command with ` +
      `\`waypoint exec ${printable(name)} -- CMD\`.`,
  ];
}
