import { callOperation, resolveStateDir } from "../../client/index.ts";
import { COMMAND_TABLE } from "../command-table.ts";
import { printable } from "../text/printable.ts";
import { type Candidate, completeWords, type KnownNames } from "./complete-words.ts";

/** Somebody waits with a finger on Tab. */
const NAMES_TIMEOUT_MS = 1_000;
const CHECKPOINTS_MAX = 100;
const DESCRIPTION_CHARACTERS_MAX = 50;

/** Prints what may come next on a command line; without a daemon that answers, no names. */
export async function complete(words: readonly string[]): Promise<void> {
  const known = await readNames(stateDirOf(words)).catch(() => ({ sessions: [], checkpoints: [] }));
  process.stdout.write(completeWords(words, COMMAND_TABLE, known));
}

/** The directory that is typed on this very line goes before the one of the environment. */
function stateDirOf(words: readonly string[]): string {
  const at = words.indexOf("--dir");
  const typed = at === -1 ? undefined : words[at + 1];
  return resolveStateDir(typed === "" ? undefined : typed);
}

async function readNames(stateDir: string): Promise<KnownNames> {
  const options = { start: false, signal: AbortSignal.timeout(NAMES_TIMEOUT_MS) };
  const log = await callOperation(stateDir, "log", { limit: CHECKPOINTS_MAX }, options);
  const { sessions } = await callOperation(stateDir, "ls", {}, options);
  return {
    sessions: sessions.map(({ name, state }) => ({ name, what: state })),
    checkpoints: log.checkpoints.toReversed().flatMap(({ id, name, intent, changes }) => {
      const what = inOneLine(intent ?? changes.summary);
      const named: Candidate[] = name === null ? [] : [{ name, what }];
      return [...named, { name: id, what }];
    }),
  };
}

/** The scripts of the shells read a line for each name, with a tab before what it stands for. */
function inOneLine(text: string): string {
  return printable(text)
    .replace(/\s+/g, " ")
    .replaceAll(":", " ")
    .slice(0, DESCRIPTION_CHARACTERS_MAX);
}
