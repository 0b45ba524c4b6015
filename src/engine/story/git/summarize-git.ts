import type { Changes } from "../../../shared/protocol/index.ts";
import { NOTHING_TOLD, type SummaryPart } from "../section.ts";

/** Returns repositories in brief: "2 commits", "on branch feature". */
export function summarizeGit({ git }: Changes): SummaryPart {
  if (git === null) return NOTHING_TOLD;
  const commits = git.reduce((sum, each) => sum + each.commits.length, 0);
  const switched = git.filter(({ branch, head }) => {
    return head.before !== null && branch.after !== null && branch.before !== branch.after;
  });
  const [only] = switched;
  const named = [
    ...(commits === 0
      ? []
      : [`${commits.toLocaleString("en")} ${commits === 1 ? "commit" : "commits"}`]),
    ...(switched.length === 1 && only !== undefined ? [`on branch ${only.branch.after}`] : []),
    ...(switched.length > 1 ? [`${switched.length} branches switched`] : []),
  ];
  return { named, counted: [] };
}
