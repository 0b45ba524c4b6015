import type { Changes } from "../../../shared/protocol/index.ts";
import { NOTHING_TOLD, type SummaryPart } from "../section.ts";

/** Returns repositories in brief: "1 commit (Fix the total)", "2 commits", "on branch feature". */
export function summarizeGit({ git }: Changes): SummaryPart {
  if (git === null) return NOTHING_TOLD;
  const commits = git.flatMap((each) => each.commits);
  const switched = git.filter(({ branch, head }) => {
    return head.before !== null && branch.after !== null && branch.before !== branch.after;
  });
  const [only] = switched;
  const named = [
    ...tellCommits(commits.map(({ subject }) => subject)),
    ...(switched.length === 1 && only !== undefined ? [`on branch ${only.branch.after}`] : []),
    ...(switched.length > 1 ? [`${switched.length} branches switched`] : []),
  ];
  return { named, counted: [] };
}

/** A subject has its line to itself; the only one is told. */
function tellCommits(subjects: readonly string[]): string[] {
  if (subjects.length === 0) return [];
  if (subjects.length === 1) return [`1 commit (${subjects[0]})`];
  return [`${subjects.length.toLocaleString("en")} commits`];
}
