import type { Intent } from "../../protocol/index.ts";
import { readRepositories } from "../git/read-git.ts";
import type { MomentPair, MomentReader, ReadContext } from "../section.ts";
import { listCommands } from "./read-commands.ts";

/** A longer command is no intent that anyone reads. */
const COMMAND_CHARACTERS_MAX = 200;

/** What was meant with a checkpoint: what was said, else the last command, else the last commit. */
export const INTENT_READER: MomentReader = {
  sections: ["intent"],
  read: async (pair, context) => {
    const said = pair.to.checkpoint?.intent ?? null;
    if (said !== null) return { intent: { text: said, source: "given" } };
    return { intent: (await lastCommand(pair, context)) ?? (await lastCommit(pair, context)) };
  },
};

async function lastCommand(pair: MomentPair, context: ReadContext): Promise<Intent | null> {
  try {
    const { commands } = await listCommands(pair, context);
    const command = commands.at(-1)?.command.trim() ?? "";
    const text = command.replace(/\s*\n\s*/g, " ").slice(0, COMMAND_CHARACTERS_MAX);
    return text === "" ? null : { text, source: "command" };
  } catch {
    return null; // The section of commands says that they are not known.
  }
}

async function lastCommit(pair: MomentPair, context: ReadContext): Promise<Intent | null> {
  const { newest } = await readRepositories(pair, context);
  return newest === null ? null : { text: newest.subject, source: "git" };
}
