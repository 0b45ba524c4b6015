import type { Intent } from "../../../shared/protocol/index.ts";
import type { MomentPair, ReadContext } from "../../moment/index.ts";
import { readRepositories } from "../git/read-git.ts";
import type { MomentReader } from "../section.ts";
import { listCommands } from "./read-commands.ts";

/** A longer one is no intent that anyone reads. */
const CHARACTERS_MAX = 200;

/**
 * What was meant with a checkpoint: what was said; else what the agent said, which was handed over
 * for just this moment; else the last command; else the last commit.
 */
export const INTENT_READER: MomentReader = {
  sections: ["intent"],
  read: async (pair, context) => {
    const said = pair.to.checkpoint?.intent ?? null;
    if (said !== null) return { intent: { text: said, source: "given" } };
    const agentSaid = oneLine(pair.to.checkpoint?.agentSaid ?? "");
    if (agentSaid !== "") return { intent: { text: agentSaid, source: "agent" } };
    return { intent: (await lastCommand(pair, context)) ?? (await lastCommit(pair, context)) };
  },
};

async function lastCommand(pair: MomentPair, context: ReadContext): Promise<Intent | null> {
  try {
    const { commands } = await listCommands(pair, context);
    const text = oneLine(commands.at(-1)?.command ?? "");
    return text === "" ? null : { text, source: "command" };
  } catch {
    return null; // The section of commands says that they are not known.
  }
}

function oneLine(text: string): string {
  return text
    .trim()
    .replace(/\s*\n\s*/g, " ")
    .slice(0, CHARACTERS_MAX);
}

async function lastCommit(pair: MomentPair, context: ReadContext): Promise<Intent | null> {
  const { newest } = await readRepositories(pair, context);
  return newest === null ? null : { text: newest.subject, source: "git" };
}
