/**
 * repository owns reading a git repository from files of one moment: where it lies, its branches, commits
 * and what is staged. git itself is never asked: a repository is somebody's content, and could have it
 * run programs.
 */
export { findGitPlaces, findWorktree } from "./git-places.ts";
export { GitRepository } from "./git-repository.ts";
export { findMergeBase } from "./merge-base.ts";
export { Repositories } from "./repositories.ts";
