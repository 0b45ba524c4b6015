import { WaypointError } from "../../shared/errors/index.ts";
import type { CommandContext } from "./context.ts";
import { printable } from "./text/printable.ts";

/**
 * Tells whether there is a person on a terminal who can be asked. Standard input is looked at last: where
 * it is /dev/null, Node loads its streams of files for it.
 */
export function hasAsker({ isJson }: CommandContext): boolean {
  return !isJson && process.stderr.isTTY === true && process.stdin.isTTY === true;
}

/**
 * Asks a person on a terminal; asks nobody when a program reads or there is no terminal.
 *
 * @throws CANCELLED  the answer was not yes.
 */
export async function confirm(
  context: CommandContext,
  { question, isAnswered }: { question: string; isAnswered: boolean },
): Promise<void> {
  if (isAnswered || !hasAsker(context)) return;
  const { createInterface } = process.getBuiltinModule("node:readline/promises");
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const leaving = new AbortController();
  // Who had the terminal before may have let go of it, and nothing else keeps this process alive.
  process.stdin.ref();
  // Ctrl-C and Ctrl-D are answers too; without this the question would never settle.
  reader.once("SIGINT", () => leaving.abort());
  reader.once("close", () => leaving.abort());
  try {
    const answer = await reader.question(`${printable(question)} [y/N] `, {
      signal: leaving.signal,
    });
    if (/^y(es)?$/i.test(answer.trim())) return;
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    process.stderr.write("\n");
  } finally {
    reader.close();
  }
  throw new WaypointError("CANCELLED", "Nothing was changed.", {
    hint: "Answer y, or give --yes.",
    detail: { answered: "no" },
  });
}
