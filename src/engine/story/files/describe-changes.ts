import { toBase64, toText } from "../../../base/index.ts";
import type { FileChange, FileTotals } from "../../../shared/protocol/index.ts";
import type {
  CompareScope,
  RawChange,
  ReadContext,
  ReadingEngine,
  TreeEntry,
} from "../../moment/index.ts";
import type { TextTools } from "../../ports/index.ts";
import { diffTexts, type TextDifference } from "./diff-texts.ts";
import { findNoise, type NoiseGroup } from "./noise.ts";

/** What one answer holds of patches at most. */
const PATCHES_MAX = 200;
const PATCHES_CHARACTERS_MAX = 1024 * 1024;
/** An answer must fit into one frame (FRAME_PAYLOAD_BYTES_MAX), however long the names are. */
const LIST_BYTES_MAX = 12 * 1024 * 1024;

/** What is told of files that differ. */
export interface DescribedFiles {
  files: FileChange[];
  fileTotals: FileTotals;
}

/**
 * Returns changes as the outside sees them, by path, noise in groups unless it is to be listed.
 *
 * @param filesMax  entries of the list at most; the totals count all.
 */
export async function describeChanges(
  changes: readonly RawChange[],
  { isExpanded, filesMax, withPatches }: CompareScope,
  { engine, signal }: Pick<ReadContext, "engine" | "signal">,
): Promise<DescribedFiles> {
  const groups = new Map<string, { group: NoiseGroup; members: RawChange[] }>();
  const listed: { path: string; change: RawChange | null; key: string }[] = [];
  for (const change of changes) {
    const group = isExpanded ? null : groupOf(change);
    if (group === null) {
      listed.push({ path: change.path, change, key: "" });
      continue;
    }
    const known = groups.get(group.path);
    if (known !== undefined) known.members.push(change);
    else {
      groups.set(group.path, { group, members: [change] });
      listed.push({ path: group.path, change: null, key: group.path });
    }
  }
  const shown = listed
    .sort((one, other) => compareText(one.path, other.path) || orderOf(one) - orderOf(other))
    .slice(0, filesMax);
  const patches = new PatchBudget(withPatches, engine, signal);
  const files: FileChange[] = [];
  let bytesLeft = LIST_BYTES_MAX;
  for (const { change, key } of shown) {
    const grouped = groups.get(key);
    const file =
      change === null
        ? describeGroup(grouped?.group as NoiseGroup, grouped?.members ?? [])
        : { ...describeChange(change), ...(await patches.of(change)) };
    bytesLeft -= Buffer.byteLength(JSON.stringify(file));
    if (bytesLeft < 0) break;
    files.push(file);
  }
  return { files, fileTotals: countTotals(changes) };
}

/** Gives patches until there are enough for one answer. */
class PatchBudget {
  readonly #textTools: TextTools;
  readonly #signal: AbortSignal;
  readonly #isWanted: boolean;
  #patchesLeft = PATCHES_MAX;
  #charactersLeft = PATCHES_CHARACTERS_MAX;

  constructor(isWanted: boolean, { textTools }: ReadingEngine, signal: AbortSignal) {
    this.#textTools = textTools;
    this.#isWanted = isWanted;
    this.#signal = signal;
  }

  async of(change: RawChange): Promise<TextDifference> {
    const mayDiffer = change.change === "added" || change.change === "deleted";
    if (!this.#isWanted || !(mayDiffer || change.what.includes("content"))) return {};
    if (this.#charactersLeft <= 0 || this.#patchesLeft === 0) return { noPatch: "omitted" };
    const found = await diffTexts(change, this.#textTools, this.#signal);
    if (found.patch === undefined) return found;
    this.#charactersLeft -= found.patch.length;
    this.#patchesLeft -= 1;
    return found;
  }
}

/** What was deleted comes before what came in its place. */
function orderOf({ change }: { change: RawChange | null }): number {
  return change?.change === "deleted" ? 0 : 1;
}

/** What moves between groups, or in and out of one, is told by itself. */
function groupOf({ path, from }: RawChange): NoiseGroup | null {
  const group = findNoise(path);
  if (group === null || from === null) return group;
  const isWithin = path !== group.path && findNoise(from)?.path === group.path;
  return isWithin ? group : null;
}

function countTotals(changes: readonly RawChange[]): FileTotals {
  const totals = { added: 0, modified: 0, deleted: 0, renamed: 0, directories: 0 };
  for (const { change, after, before } of changes) {
    const isDirectory = (after ?? before)?.type === "directory";
    if (isDirectory && change !== "renamed") totals.directories += 1;
    else totals[change] += 1;
  }
  return totals;
}

function describeChange({ change, path, from, before, after, what }: RawChange): FileChange {
  const pathBase64 = toBase64(path);
  const type = (after ?? before)?.type ?? "file";
  return {
    path: toText(path),
    ...(pathBase64 === undefined ? {} : { pathBase64 }),
    change,
    type,
    ...(before !== null && before.type !== type ? { typeBefore: before.type } : {}),
    ...describeSource(from),
    ...(what.length === 0 ? {} : { what }),
    sizeBefore: before?.sizeBytes ?? null,
    sizeAfter: after?.sizeBytes ?? null,
    ...(before === null || after === null ? {} : describeRights(before, after)),
  };
}

function describeSource(from: string | null): Pick<FileChange, "from" | "fromBase64"> {
  if (from === null) return {};
  const fromBase64 = toBase64(from);
  return { from: toText(from), ...(fromBase64 === undefined ? {} : { fromBase64 }) };
}

function describeRights(before: TreeEntry, after: TreeEntry): Partial<FileChange> {
  const hasMode = before.mode !== after.mode;
  const hasOwner = before.uid !== after.uid || before.gid !== after.gid;
  return {
    ...(hasMode ? { modeBefore: octal(before.mode), modeAfter: octal(after.mode) } : {}),
    ...(hasOwner ? { ownerBefore: owner(before), ownerAfter: owner(after) } : {}),
  };
}

function describeGroup(group: NoiseGroup, members: readonly RawChange[]): FileChange {
  const totals = countTotals(members);
  const kinds = new Set(members.map(({ change }) => change));
  const [only] = kinds;
  const pathBase64 = toBase64(group.path);
  return {
    path: toText(group.path),
    ...(pathBase64 === undefined ? {} : { pathBase64 }),
    change: kinds.size === 1 && only !== undefined && only !== "renamed" ? only : "modified",
    type: "directory",
    sizeBefore: sum(members.map(({ before }) => before)),
    sizeAfter: sum(members.map(({ after }) => after)),
    group: group.name,
    files: totals.added + totals.modified + totals.deleted + totals.renamed,
    totals,
  };
}

function sum(entries: readonly (TreeEntry | null)[]): number {
  return entries.reduce((bytes, entry) => bytes + (entry?.sizeBytes ?? 0), 0);
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}

function owner({ uid, gid }: TreeEntry): string {
  return `${uid}:${gid}`;
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
