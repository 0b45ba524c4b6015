import { detachKeysFor } from "../config/use-config.ts";
import { type Invocation, note } from "../context.ts";
import { attachTerminal, describeEnd } from "../terminal/attach-terminal.ts";

/** Connects this terminal to a session. */
export async function run({
  context,
  args,
  options,
}: Invocation<{ detachKeys?: string }>): Promise<number> {
  const [session = ""] = args;
  const detachKeys = await detachKeysFor(context, options.detachKeys);
  const result = await attachTerminal(context, { session, detachKeys });
  if (context.isJson) await context.output.json(result);
  else note(context, describeEnd(session, result.reason));
  return result.exitCode ?? 0;
}
