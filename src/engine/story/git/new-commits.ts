import type { GitCommit } from "../../../formats/git/index.ts";
import type { Pace } from "../../moment/index.ts";
import type { GitRepository } from "../../repository/index.ts";

/** More commits than this are not told one by one. */
const COMMITS_MAX = 500;
/** With more new ones than this the oldest are not looked at. */
const WALKED_MAX = 5000;

/** Parents that wait to be walked to; a commit of one object may name tens of thousands. */
const WAITING_MAX = 50_000;

/** The repository at both moments, and how to tell what was there already. */
export interface CommitQuestion {
  before: GitRepository | null;
  after: GitRepository;
  /** When the first moment was, in seconds; `null` if nobody knows. */
  sinceSeconds: number | null;
}

/** The newest commits that were made, and whether these are all of them. */
export interface NewCommits {
  commits: GitCommit[];
  isWhole: boolean;
}

/**
 * Returns the commits of the branches that the repository did not have before, oldest first.
 *
 * What was there already, on whatever branch, was not made now. Neither was what is older than the
 * first moment and came from a remote, or with a whole new repository.
 */
export async function findNewCommits(question: CommitQuestion, pace: Pace): Promise<NewCommits> {
  const { before, after, sinceSeconds } = question;
  const isOld = ({ seconds }: GitCommit) => sinceSeconds !== null && seconds < sinceSeconds;
  const remote = await after.refs.commitsBelow("refs/remotes");
  const fetched = before === null ? null : await walk(remote, question, () => false, pace);
  const starts = await after.refs.commitsBelow("refs/heads");
  if (after.head.commit !== null) starts.add(after.head.commit);
  const isForeign = (commit: GitCommit) =>
    isOld(commit) && (fetched === null || fetched.commits.has(commit.id));
  const { commits, isWhole } = await walk(starts, question, isForeign, pace);
  const newest = [...commits.values()].slice(-COMMITS_MAX);
  return { commits: newest, isWhole: isWhole && newest.length === commits.size };
}

/** Goes from commits to their parents, as far as they are new; gives parents before children. */
async function walk(
  starts: ReadonlySet<string>,
  { before, after }: CommitQuestion,
  isLeftOut: (commit: GitCommit) => boolean,
  pace: Pace,
): Promise<{ commits: Map<string, GitCommit>; isWhole: boolean }> {
  const commits = new Map<string, GitCommit>();
  const seen = new Set<string>();
  let isWhole = true;
  const waiting: (string | GitCommit)[] = [...starts].sort();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    await pace.yieldOften();
    if (typeof next !== "string") {
      commits.set(next.id, next);
      continue;
    }
    if (seen.has(next) || seen.size === WALKED_MAX) continue;
    seen.add(next);
    if (before !== null && (await before.has(next))) continue;
    const commit = await after.commit(next);
    if (commit === null || isLeftOut(commit)) continue;
    waiting.push(commit);
    for (const parent of commit.parents.toReversed()) {
      if (waiting.length < WAITING_MAX) waiting.push(parent);
      else isWhole = false;
    }
  }
  return { commits, isWhole: isWhole && seen.size < WALKED_MAX };
}
