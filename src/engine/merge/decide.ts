import { readFileSync } from "node:fs";
import { toBytes } from "../../base/index.ts";
import { hasSameContent, hasSameOwner, isSame, type Version } from "../changes/index.ts";
import type { ReadingCalls, TextTools } from "../ports/index.ts";
import { isText, TEXT_BYTES_MAX } from "./is-text.ts";
import type { ConflictKind, DesiredChange } from "./plan.ts";

/** How conflicts end, and what the sides are called. */
export interface DecisionRules {
  /** `refuse` lists them, `theirs` takes the other side, `git` does what git's merge does. */
  onConflict: "refuse" | "theirs" | "git";
  labels: { ours: string; base: string; theirs: string };
  /** Where files may be made to merge texts. */
  scratchDir: string;
  textTools: Pick<TextTools, "mergeTexts">;
  /** How extended attributes are compared. */
  calls: ReadingCalls;
}

/** What is to happen at one path. */
export interface Decision {
  /** `same`: both agree, or only ours changed. `take`: write `after`, with `merged` as content. */
  outcome: "same" | "take";
  after: Version | null;
  merged: Buffer | null;
  /** `after` has what both sides have made, be it the lines of both or one's content and the other's mode. */
  isJoined: boolean;
  conflict: { kind: ConflictKind; why: string } | null;
  note: string | null;
}

const SAME: Decision = {
  ...{ outcome: "same", after: null, merged: null, isJoined: false },
  ...{ conflict: null, note: null },
};

/**
 * Decides what becomes of one path, three-way.
 *
 * @param ours  what is at the target now.
 */
export async function decide(
  change: Pick<DesiredChange, "base" | "theirs" | "applied" | "settle">,
  ours: Version | null,
  rules: DecisionRules,
): Promise<Decision> {
  const decision = await decideByBase(change, ours, rules);
  const settled = decision.conflict === null ? null : ((await change.settle?.(ours)) ?? null);
  if (settled === null) return decision;
  if ("base" in settled) {
    const isKnown = change.base !== "unknown" && change.base !== null;
    return isKnown ? decision : await decideByBase({ ...change, ...settled }, ours, rules);
  }
  if (settled.keep === "theirs") return take(change.theirs);
  return { ...SAME, note: settled.note };
}

async function decideByBase(
  { base: knownBase, theirs, applied }: Pick<DesiredChange, "base" | "theirs" | "applied">,
  ours: Version | null,
  rules: DecisionRules,
): Promise<Decision> {
  if (await isSame(ours, theirs, rules.calls)) return SAME;
  if (knownBase === "ours") return take(theirs);
  if (applied !== undefined && (await isSame(applied, ours, rules.calls))) return take(theirs);
  if (ours?.type === "directory" && theirs?.type === "directory") {
    return await decideDirectory(knownBase, ours, theirs, rules);
  }
  if (ours?.type === "directory" && theirs === null) return take(null);
  if (knownBase !== "unknown") {
    if (await isSame(knownBase, ours, rules.calls)) return take(theirs);
    if (await isSame(knownBase, theirs, rules.calls)) return SAME;
  }
  return await joinOrConflict(knownBase === "unknown" ? undefined : knownBase, ours, theirs, rules);
}

function take(after: Version | null): Decision {
  return { ...SAME, outcome: "take", after };
}

/** A directory is no more than its mode and owner here; what is in it has paths of its own. */
async function decideDirectory(
  base: Version | null | "unknown",
  ours: Version,
  theirs: Version,
  { calls }: DecisionRules,
): Promise<Decision> {
  if (base !== null && base !== "unknown") {
    if (await isSame(base, ours, calls)) return take(theirs);
    if (await isSame(base, theirs, calls)) return SAME;
  }
  return { ...SAME, note: "the directory keeps its mode and owner, which differ" };
}

/** @param base  `undefined` where nothing tells what it was. */
async function joinOrConflict(
  base: Version | null | undefined,
  ours: Version | null,
  theirs: Version | null,
  rules: DecisionRules,
): Promise<Decision> {
  if (ours?.type === "file" && theirs?.type === "file" && base !== undefined) {
    const joined = await joinFiles(base?.type === "file" ? base : null, { ours, theirs }, rules);
    if (joined !== null && joined.conflict === null) return joined;
    if (joined !== null) return end(joined.conflict, joined, { ours, theirs }, rules);
  }
  return end(explain(base, ours, theirs), null, { ours, theirs }, rules);
}

/** Joins two files that both differ from the base; `null` where they are no texts. */
async function joinFiles(
  base: Version | null,
  { ours, theirs }: { ours: Version; theirs: Version },
  { labels, scratchDir, textTools }: DecisionRules,
): Promise<Decision | null> {
  const mode = pick(base?.mode, ours.mode, theirs.mode);
  const isOwnerOurs = base === null || hasSameOwner(base, theirs) || hasSameOwner(ours, theirs);
  const isOwnerTheirs = base !== null && hasSameOwner(base, ours);
  const { uid, gid } = isOwnerTheirs && !isOwnerOurs ? theirs : ours;
  const rights = { mode: mode ?? ours.mode, uid, gid };
  const hasOtherRights = mode === null || !(isOwnerOurs || isOwnerTheirs);
  const conflict = hasOtherRights ? bothChanged("modes or owners") : null;
  const join = (side: Version) => ({ ...take({ ...side, ...rights }), isJoined: true, conflict });
  if (await hasSameContent(ours, theirs)) return join(ours);
  if (base !== null) {
    if (await hasSameContent(base, ours)) return join(theirs);
    if (await hasSameContent(base, theirs)) return join(ours);
  }
  const texts = [base, ours, theirs].map(textOf);
  const [baseText, oursText, theirsText] = texts;
  if (baseText == null || oursText == null || theirsText == null) return null;
  const sides = { base: baseText, ours: oursText, theirs: theirsText };
  const { text, hasConflicts } = await textTools.mergeTexts({ ...sides, labels }, scratchDir);
  const isOurs = rights.mode === ours.mode && hasSameOwner({ ...ours, ...rights }, ours);
  // All that they have done is here already, with more.
  if (isOurs && !hasConflicts && conflict === null && text.equals(oursText)) return SAME;
  return { ...join(theirs), merged: text, conflict: hasConflicts ? textConflict(base) : conflict };
}

function textConflict(base: Version | null): NonNullable<Decision["conflict"]> {
  return base === null
    ? { kind: "both-added", why: "both sides have added it, each with other lines" }
    : bothChanged("lines");
}

/** Returns what a conflict ends in: nothing, the other side, or what git leaves. */
function end(
  conflict: Decision["conflict"],
  joined: Decision | null,
  { ours, theirs }: { ours: Version | null; theirs: Version | null },
  { onConflict }: DecisionRules,
): Decision {
  if (onConflict === "refuse") return { ...SAME, conflict };
  if (onConflict === "theirs") return { ...take(theirs), conflict };
  // As git: markers in texts, what one side has deleted stays as the other has it, else ours stays.
  if (joined !== null) return { ...joined, conflict };
  return ours === null ? { ...take(theirs), conflict } : { ...SAME, conflict };
}

function explain(
  base: Version | null | undefined,
  ours: Version | null,
  theirs: Version | null,
): NonNullable<Decision["conflict"]> {
  if (theirs === null) {
    return { kind: "changed-deleted", why: "deleted there, and new or changed here" };
  }
  if (ours === null) return { kind: "changed-deleted", why: "changed there, and deleted here" };
  if (ours.type !== theirs.type) {
    return { kind: "kind", why: `a ${theirs.type} there, and a ${ours.type} here` };
  }
  if (base === null) return { kind: "both-added", why: "both sides have added it" };
  if (base === undefined) {
    return { kind: "both-changed", why: "changed on both sides, and nothing tells what it was" };
  }
  return bothChanged("its content");
}

function bothChanged(what: string): NonNullable<Decision["conflict"]> {
  return { kind: "both-changed", why: `both sides have changed ${what}` };
}

/** Three-way choice of one value; `null` where both changed it. */
function pick(base: number | undefined, ours: number, theirs: number): number | null {
  if (ours === theirs || base === theirs) return ours;
  return base === ours ? theirs : null;
}

/** Returns the text of a version: nothing for nothing, `null` for what is no text. */
function textOf(version: Version | null): Buffer | null {
  if (version === null) return Buffer.alloc(0);
  if (!("hostPath" in version.content)) return version.content.text ?? null;
  if (version.sizeBytes > TEXT_BYTES_MAX) return null;
  const bytes = readFileSync(toBytes(version.content.hostPath));
  return isText(bytes) ? bytes : null;
}
