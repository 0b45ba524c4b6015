import type { GitCommit } from "../../formats/git/index.ts";
import type { Pace } from "../moment/index.ts";
import type { GitRepository } from "./git-repository.ts";

/** Further back two histories are not compared. */
const WALKED_MAX = 5000;
/** Commits that wait to be walked to; one object may name very many parents. */
const WAITING_MAX = 5000;
const [ONE, OTHER] = [1, 2];

/**
 * Returns the newest commit that two commits have in common, or `null` where none is found.
 *
 * As git does it: from the newest commit to the oldest, each tells its parents whose history it is
 * in. Each repository may lack what the other one has.
 *
 * @throws Error  an object is damaged.
 */
export async function findMergeBase(
  [one, other]: readonly [string, string],
  repositories: readonly Pick<GitRepository, "commit">[],
  pace: Pace,
): Promise<string | null> {
  const sides = new Map<string, number>();
  const waiting: GitCommit[] = [];
  const add = async (id: string, side: number) => {
    const known = sides.get(id) ?? 0;
    if ((known | side) === known) return;
    sides.set(id, known | side);
    const commit = await findCommit(id, repositories);
    if (commit !== null && waiting.length < WAITING_MAX) waiting.push(commit);
  };
  await add(one, ONE);
  await add(other, OTHER);
  for (let walked = 0; walked < WALKED_MAX; walked += 1) {
    await pace.yieldOften();
    const newest = takeNewest(waiting);
    if (newest === null) return null;
    const side = sides.get(newest.id) ?? 0;
    if (side === (ONE | OTHER)) return newest.id;
    for (const parent of newest.parents) await add(parent, side);
  }
  return null;
}

async function findCommit(
  id: string,
  repositories: readonly Pick<GitRepository, "commit">[],
): Promise<GitCommit | null> {
  for (const repository of repositories) {
    const commit = await repository.commit(id);
    if (commit !== null) return commit;
  }
  return null;
}

function takeNewest(waiting: GitCommit[]): GitCommit | null {
  let at = 0;
  for (const [index, { seconds }] of waiting.entries()) {
    if (seconds >= (waiting[at]?.seconds ?? 0)) at = index;
  }
  return waiting.splice(at, 1)[0] ?? null;
}
