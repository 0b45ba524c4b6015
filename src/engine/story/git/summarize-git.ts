import type { Changes } from "../../../shared/protocol/index.ts";

/** Returns repositories in brief: "2 commits", "on branch feature". */
export function summarizeGit({ git }: Changes): string | null {
  if (git === null) return null;
  const commits = git.reduce((sum, each) => sum + each.commits.length, 0);
  const switched = git.filter(({ branch, head }) => {
    return head.before !== null && branch.after !== null && branch.before !== branch.after;
  });
  const [only] = switched;
  const parts = [
    ...(commits === 0
      ? []
      : [`${commits.toLocaleString("en")} ${commits === 1 ? "commit" : "commits"}`]),
    ...(switched.length === 1 && only !== undefined ? [`on branch ${only.branch.after}`] : []),
    ...(switched.length > 1 ? [`${switched.length} branches switched`] : []),
  ];
  return parts.length === 0 ? null : parts.join(", ");
}
