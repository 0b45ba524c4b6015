import type { CommandSpec } from "./command-spec.ts";
import { COMMAND_TABLE } from "./command-table.ts";

/** Options before the command that change nothing of which one is called. */
const FLAGS: ReadonlySet<string> = new Set(["--json", "--no-color", "--no-pager"]);
const WITH_VALUE = "--dir";

/**
 * Returns the command that a line calls, so that the parser of that one alone is made: making all takes
 * longer than what a command does. `undefined` where the parser of all has to tell, as for help.
 */
export function findCalled(argv: readonly string[]): CommandSpec | undefined {
  const words = argv[Symbol.iterator]();
  for (const word of words) {
    if (word === WITH_VALUE) words.next();
    else if (!word.startsWith("-")) return COMMAND_TABLE.find(({ name }) => name === word);
    else if (!FLAGS.has(word) && !word.startsWith(`${WITH_VALUE}=`)) return undefined;
  }
  return undefined;
}
