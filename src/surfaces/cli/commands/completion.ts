import { shellScript } from "../completion/shell-script.ts";
import type { Invocation } from "../context.ts";

/** Prints what makes a shell complete this program's commands, sessions and checkpoints. */
export async function run({ context, args }: Invocation): Promise<undefined> {
  const [shell = ""] = args;
  await context.output.text(shellScript(shell));
}
