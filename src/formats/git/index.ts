/**
 * git owns what the files of a git repository mean: its index, commits, trees, packs and logs.
 *
 * Knows nothing of where they lie; every size that a repository tells is bounded here.
 */

export { describeCommit, type GitCommit, parseCommit } from "./git-commit.ts";
export { type GitIndex, type IndexEntry, objectId, parseIndex, treeId } from "./git-index.ts";
export { type GitObject, GitPack, ReadRoom } from "./git-pack.ts";
export { parsePackedRefs, parseRef } from "./git-ref.ts";
export { commitBefore, entriesIn } from "./git-reflog.ts";
export { findInTree, type GitTreeEntry } from "./git-tree.ts";
