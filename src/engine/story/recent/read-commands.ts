import type { StoryCommand } from "../../../shared/protocol/index.ts";
import type { MomentPair, ReadContext } from "../../moment/index.ts";
import { AnswerBudget } from "../answer-budget.ts";
import type { MomentReader } from "../section.ts";
import { listTyped } from "./read-typed.ts";

/** Output that the commands of one story have together; the newest have theirs first. */
const OUTPUT_CHARACTERS_MAX = 1024 * 1024;
/** Longer lists are cut at their beginning; a control character takes six bytes. */
const LIST_BYTES_MAX = 6 * 1024 * 1024;

/** The commands that were run since the parent. */
export const COMMANDS_READER: MomentReader = {
  sections: ["commands"],
  read: async (pair, context) => {
    const room = new AnswerBudget(LIST_BYTES_MAX);
    const { commands: all, unknown } = await listCommands(pair, context);
    const commands = room.keep(shorten(all), "commands").reverse();
    return { commands, unknown: { ...unknown, ...room.leftOut } };
  },
};

/** What was run, oldest first; `unknown` says of which of it nobody knows. */
interface ListedCommands {
  commands: StoryCommand[];
  unknown: Record<string, string>;
}

/**
 * Returns the commands that a checkpoint comes after and its parent does not, oldest first.
 *
 * After a restore or in a fork those are the commands of the new instance, so that each branch
 * has its own.
 *
 * @throws Error  nobody knows; the message says why.
 */
export function listCommands(pair: MomentPair, context: ReadContext): Promise<ListedCommands> {
  return pair.to.once("commands", async () => {
    const unknown: Record<string, string> = {};
    const typed = await listTyped(pair, context).catch((error: unknown) => {
      context.signal.throwIfAborted();
      unknown["commands that were typed"] = error instanceof Error ? error.message : String(error);
      return [];
    });
    const commands = [...listExecuted(pair, context), ...typed].sort((one, other) =>
      one.startedAt < other.startedAt ? -1 : 1,
    );
    return { commands, unknown };
  });
}

/** Those of `exec` and `attach -- COMMAND`, as the catalog has them. */
function listExecuted({ from, to }: MomentPair, { engine }: ReadContext): StoryCommand[] {
  const { commands } = engine.catalog;
  const capture = commands.capture(to.checkpoint?.id ?? "");
  if (capture === undefined) throw new Error("it was not noted what had been run");
  const earlier = from.checkpoint === null ? undefined : commands.capture(from.checkpoint.id);
  const after = earlier?.instance === capture.instance ? earlier.lastCommand : 0;
  const ended = commands.between(capture.instance, after, capture.lastCommand);
  return [...ended, ...capture.running].map(({ session: _s, instance: _i, ...command }) => command);
}

/** Returns the newest first, without the output that is too much. */
function shorten(commands: readonly StoryCommand[]): StoryCommand[] {
  let charactersLeft = OUTPUT_CHARACTERS_MAX;
  const newestFirst = commands.toReversed().map((command) => {
    const output = charactersLeft <= 0 ? "" : command.output.slice(-charactersLeft);
    charactersLeft -= output.length;
    return { ...command, output };
  });
  return newestFirst;
}
