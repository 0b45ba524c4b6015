import { lstatSync } from "node:fs";
import { type RawPath, toBytes, toText } from "../../../base/index.ts";
import { type Intent, isFileNoise } from "../../../shared/protocol/index.ts";
import type { MomentPair, ReadContext, TreeEntry } from "../../moment/index.ts";
import { findNoise } from "../files/noise.ts";
import { shareFileChanges } from "../files/share-file-changes.ts";
import { readRepositories } from "../git/read-git.ts";
import type { MomentReader } from "../section.ts";
import { type FileOperation, fileOperationsBetween } from "./file-operations.ts";
import { intentOfCommands, oneLine } from "./intent-of-commands.ts";
import { listCommands } from "./read-commands.ts";

/** Files that are asked when they were changed. */
const FILES_ASKED_MAX = 2000;

/**
 * What was meant with a checkpoint: what was said; else what the agent said, which was handed over
 * for just this moment; else the command or the operation that made the change;
 * else the last commit that was made.
 */
export const INTENT_READER: MomentReader = {
  sections: ["intent"],
  read: async (pair, context) => {
    const said = pair.to.checkpoint?.intent ?? null;
    if (said !== null) return { intent: { text: said, source: "given" } };
    const agentSaid = oneLine(pair.to.checkpoint?.agentSaid ?? "");
    if (agentSaid !== "") return { intent: { text: agentSaid, source: "agent" } };
    return { intent: (await commandMeant(pair, context)) ?? (await lastCommit(pair, context)) };
  },
};

async function commandMeant(pair: MomentPair, context: ReadContext): Promise<Intent | null> {
  try {
    const { commands } = await listCommands(pair, context);
    const operations = fileOperationsBetween(pair, context);
    const last = operations.at(-1) ?? null;
    if (commands.length + operations.length < 2) return intentOfCommands(commands, [], last);
    const instants = await changeInstants(pair, context);
    return intentOfCommands(commands, withoutThoseOf(operations, instants), last);
  } catch {
    context.signal.throwIfAborted();
    return null; // The section of commands says that they are not known.
  }
}

/** A command that went on meanwhile has not made what an operation made. */
function withoutThoseOf(operations: readonly FileOperation[], instants: number[]): number[] {
  return instants.filter(
    (ms) => !operations.some((each) => ms >= each.startedAtMs && ms <= each.endedAtMs),
  );
}

/** Returns when the files that matter were changed; of a deleted one its directory tells. */
async function changeInstants(pair: MomentPair, context: ReadContext): Promise<number[]> {
  using shared = shareFileChanges(pair, context);
  const { changes } = await shared.changes;
  const instants = changes
    .filter(({ path }) => findNoise(path) === null && !isFileNoise(toText(path)))
    .slice(0, FILES_ASKED_MAX)
    .map(({ path, after }) => after ?? shared.files.to.find(parentOf(path)))
    .map((entry) => (entry === null ? null : changedAtMs(entry)));
  return instants.filter((ms) => ms !== null);
}

/** The kernel's own note, which no program sets. */
function changedAtMs({ hostPath }: TreeEntry): number | null {
  try {
    return lstatSync(toBytes(hostPath)).ctimeMs;
  } catch {
    return null;
  }
}

function parentOf(path: RawPath): RawPath {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

async function lastCommit(pair: MomentPair, context: ReadContext): Promise<Intent | null> {
  const { newest } = await readRepositories(pair, context);
  return newest === null ? null : { text: newest.subject, source: "git" };
}
