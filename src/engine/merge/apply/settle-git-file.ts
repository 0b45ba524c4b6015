import type { RawPath } from "../../../base/index.ts";
import { parsePackedRefs, parseRef, treeId } from "../../../formats/git/index.ts";
import { findMergeBase, type GitRepository } from "../../repository/index.ts";
import type { Settled } from "../plan.ts";
import type { Question, Sides } from "./find-base.ts";

const OBJECT = /^objects\/(?:[0-9a-f]{2}\/[0-9a-f]{38,62}|pack\/[^/]+|info\/[^/]+)$/;
/** What git writes down of its own work, of which nothing else depends. */
const NOTES = /^(?:logs\/.*|COMMIT_EDITMSG|ORIG_HEAD|FETCH_HEAD|gc\.log)$/;
const TEXT_BYTES_MAX = 4 * 1024 * 1024;

/** What was staged is in the files as well; the objects of it come along. */
const OWN_STAGE: Settled = {
  keep: "ours",
  note: "what is staged stays as it is here; what the session staged comes as changes of files",
};

const OURS: Settled = { keep: "ours", note: null };
const THEIRS: Settled = { keep: "theirs" };

/**
 * Tells which side's file of git itself has what both have done; `null` where neither has.
 *
 * Compared by what they mean: an index that `git status` has written again is no change, and a branch
 * that has gone on from where the other one is has all of that.
 *
 * @throws Error  a repository is damaged.
 */
export async function settleGitFile(
  inGit: RawPath,
  question: Question,
  sides: Sides,
): Promise<Settled | null> {
  if (question.change.after?.type !== "file") return null;
  if (OBJECT.test(inGit)) return OURS;
  if (NOTES.test(inGit)) {
    return { keep: "ours", note: "git's notes of its own work stay as they are here" };
  }
  if (inGit === "config" && question.change.before === null) {
    return { keep: "ours", note: "git's settings stay as they are here" };
  }
  const ours = await sides.target.around(question.targetPath);
  const theirs = await sides.session.around(question.change.path);
  if (ours === null || theirs === null) return null;
  const pair = { ours, theirs };
  if (inGit === "index") return await settleIndex(pair, question, sides);
  if (inGit === "packed-refs" || inGit.startsWith("refs/")) {
    return await settleRefs(inGit, pair, sides);
  }
  return null;
}

interface Pair {
  ours: GitRepository;
  theirs: GitRepository;
}

async function settleIndex(
  { ours, theirs }: Pair,
  { change }: Question,
  sides: Sides,
): Promise<Settled | null> {
  const [staged, stagedTheirs] = [(await ours.staged()).index, (await theirs.staged()).index];
  if (staged.isUnsettled || stagedTheirs.isUnsettled) return null;
  const tree = treeId(staged.entries, ours.hashBytes);
  const treeTheirs = treeId(stagedTheirs.entries, theirs.hashBytes);
  if (tree === treeTheirs) return OURS;
  const head = ours.head.commit;
  const headTheirs = await headOfSession({ ours, theirs }, change.path, sides);
  if (head === null || headTheirs === null) return null;
  const isClean = (await ours.commit(head))?.tree === tree;
  const isCleanTheirs = (await theirs.commit(headTheirs))?.tree === treeTheirs;
  const common = await findMergeBase([head, headTheirs], [ours, theirs], sides.pace);
  if (common === head && isClean) return THEIRS;
  if (common === headTheirs && isCleanTheirs) return OURS;
  return head === headTheirs ? OWN_STAGE : null;
}

/** A session that has no branch of its own shows where the base's is now, not what it saw itself. */
async function headOfSession(
  { ours, theirs }: Pair,
  indexPath: RawPath,
  { views }: Sides,
): Promise<string | null> {
  if (theirs.head.commit !== ours.head.commit) return theirs.head.commit;
  return await ours.commitAt(views.untouchedUntilNs(indexPath), (each) => views.ctimeNs(each));
}

async function settleRefs(
  inGit: RawPath,
  { ours, theirs }: Pair,
  { pace }: Sides,
): Promise<Settled | null> {
  const [refs, refsTheirs] = [await readRefs(inGit, ours), await readRefs(inGit, theirs)];
  if (refs === null || refsTheirs === null) return null;
  const goesOn = async (from: ReadonlyMap<RawPath, string>, to: ReadonlyMap<RawPath, string>) => {
    for (const [name, commit] of from) {
      const next = to.get(name);
      if (next === undefined) return false;
      if (next === commit) continue;
      if ((await findMergeBase([commit, next], [ours, theirs], pace)) !== commit) return false;
    }
    return true;
  };
  if (await goesOn(refs, refsTheirs)) return THEIRS;
  return (await goesOn(refsTheirs, refs)) ? OURS : null;
}

/** Returns the commits that a file names; `null` where it names none. */
async function readRefs(
  inGit: RawPath,
  { files, places }: GitRepository,
): Promise<ReadonlyMap<RawPath, string> | null> {
  const content = await files.read(`${places.commonDir}/${inGit}`, TEXT_BYTES_MAX);
  if (content === null) return null;
  if (inGit === "packed-refs") return parsePackedRefs(content);
  const target = parseRef(content.toString("latin1").trimEnd());
  return target !== null && "commit" in target ? new Map([[inGit, target.commit]]) : null;
}
