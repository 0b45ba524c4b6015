import { fromText, isAtOrBelow, normalText, type RawPath, toText } from "../../../base/index.ts";
import { describeCommit, type GitCommit } from "../../../formats/git/index.ts";
import type { GitChange } from "../../../shared/protocol/index.ts";
import type { MomentPair, RawChange, ReadContext } from "../../moment/index.ts";
import { Pace } from "../../moment/index.ts";
import { GitRepository } from "../../repository/index.ts";
import { AnswerBudget } from "../answer-budget.ts";
import { shareFileChanges } from "../files/share-file-changes.ts";
import { loadStory } from "../keep-story.ts";
import type { ChangesReader } from "../section.ts";
import { shellDirectory } from "../shell-directory.ts";
import { compareDirty, type DirtyAnswer } from "./compare-dirty.ts";
import { findRepositories } from "./find-repositories.ts";
import { findNewCommits, type NewCommits } from "./new-commits.ts";
import { summarizeGit } from "./summarize-git.ts";

/** A commit has whole seconds, and a moment is a little after its snapshot. */
const SLACK_SECONDS = 2;
/** Longer lists of commits are cut. */
const LIST_BYTES_MAX = 1024 * 1024;

/** What one repository is asked for. */
interface Question {
  top: RawPath;
  pair: MomentPair;
  changes: readonly RawChange[];
  files: { before: GitRepository | null; after: GitRepository | null };
  context: ReadContext;
  pace: Pace;
}

/** What was found of repositories. */
interface ReadRepositories {
  git: GitChange[];
  unknown: Record<string, string>;
  /** The newest commit that was made between the two. */
  newest: GitCommit | null;
}

/** Branch, commit and cleanness of the repositories around the shell, and of those that changed. */
export const GIT_READER: ChangesReader = {
  sections: ["git"],
  read: async (pair, context) => {
    const { git, unknown } = await readRepositories(pair, context);
    return { git, unknown };
  },
  summarize: summarizeGit,
};

/** Reads the repositories of a pair, once for all who ask. */
export function readRepositories(
  pair: MomentPair,
  context: ReadContext,
): Promise<ReadRepositories> {
  return pair.to.once("repositories", () => compareRepositories(pair, context));
}

async function compareRepositories(
  pair: MomentPair,
  context: ReadContext,
): Promise<ReadRepositories> {
  using shared = shareFileChanges(pair, context);
  const { changes } = await shared.changes;
  const pace = new Pace(context.signal);
  const cwd = await shellDirectory(pair.to, context.engine);
  const { changed, around } = await findRepositories(changes, cwd, shared.files, pace);
  const found: ReadRepositories = { git: [], unknown: {}, newest: null };
  for (const top of [...new Set([...around, ...changed])].sort()) {
    if (!isInScope(top, context)) continue;
    try {
      await using before = await GitRepository.open(shared.files.from, top);
      await using after = await GitRepository.open(shared.files.to, top);
      const question = { top, pair, changes, files: { before, after }, context, pace };
      await compare(question, found);
    } catch (error) {
      context.signal.throwIfAborted();
      const reason = error instanceof Error ? error.message : String(error);
      found.unknown[`git in ${toText(top)}`] = reason;
    }
  }
  const isTold = (told: GitChange) => around.has(fromText(told.path)) || isChanged(told);
  const room = new AnswerBudget(LIST_BYTES_MAX);
  const git = tellOnce(found.git)
    .filter(isTold)
    .map((told) => ({ ...told, commits: room.keep(told.commits, `commits in ${told.path}`) }));
  return { ...found, git, unknown: { ...found.unknown, ...room.leftOut } };
}

function isChanged({ branch, head, dirty, commits }: GitChange): boolean {
  const isMoved = branch.before !== branch.after || head.before !== head.after;
  return isMoved || dirty.before !== dirty.after || commits.length > 0;
}

/** Work trees of one repository and clones share commits: they are told where they were made. */
function tellOnce(git: readonly GitChange[]): GitChange[] {
  const told = new Set<string>();
  const isMoved = ({ head }: GitChange) => head.before !== head.after;
  const inOrder = [...git.filter(isMoved), ...git.filter((each) => !isMoved(each))];
  const kept = new Map(
    inOrder.map((each) => {
      const commits = each.commits.filter(({ id }) => !told.has(id));
      for (const { id } of commits) told.add(id);
      return [each.path, { ...each, commits }];
    }),
  );
  return git.map((each) => kept.get(each.path) ?? each);
}

function isInScope(top: RawPath, { scope }: ReadContext): boolean {
  return scope.under === null || isAtOrBelow(top, normalText(scope.under));
}

async function compare(question: Question, found: ReadRepositories): Promise<void> {
  const { before, after } = question.files;
  if (before === null && after === null) return;
  const where = toText(question.top);
  const made = await findCommits(question);
  if (!made.isWhole) found.unknown[`older commits in ${where}`] = "there are too many to be told";
  for (const commit of made.commits) found.newest = newerOf(found.newest, commit);
  found.git.push({
    path: where,
    branch: { before: before?.head.branch ?? null, after: after?.head.branch ?? null },
    head: { before: before?.head.commit ?? null, after: after?.head.commit ?? null },
    dirty: await tellDirty(question, found.unknown),
    commits: made.commits.map(describeCommit),
  });
}

function newerOf(one: GitCommit | null, other: GitCommit): GitCommit {
  return one !== null && one.seconds > other.seconds ? one : other;
}

async function findCommits(question: Question): Promise<NewCommits> {
  const { before, after } = question.files;
  if (after === null) return { commits: [], isWhole: true };
  const since = { before, after, sinceSeconds: sinceSeconds(question) };
  return await findNewCommits(since, question.pace);
}

async function tellDirty(
  { top, pair, changes, files, context, pace }: Question,
  unknown: Record<string, string>,
): Promise<GitChange["dirty"]> {
  const earlier = pair.from.checkpoint;
  const kept = earlier === null ? null : await loadStory(earlier.id, context.engine);
  const known = kept?.changes.git?.find(({ path }) => path === toText(top))?.dirty.after ?? null;
  const told = await compareDirty({ top, changes, ...files, knownBefore: known }, pace);
  const orUnknown = (answer: DirtyAnswer) => {
    if (answer === null || typeof answer === "boolean") return answer;
    unknown[`whether ${toText(top)} is dirty`] = answer.unknown;
    return null;
  };
  return { before: orUnknown(told.before), after: orUnknown(told.after) };
}

/** When the first moment was; of a fresh session, when the session was made. */
function sinceSeconds({ pair, context }: Question): number | null {
  const { from, to } = pair;
  const sessionId = to.checkpoint?.session ?? to.session?.id ?? "";
  const made = from.checkpoint ?? context.engine.catalog.session(sessionId);
  return made === undefined ? null : Date.parse(made.createdAt) / 1000 - SLACK_SECONDS;
}
