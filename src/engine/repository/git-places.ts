import { joinRaw, type RawPath } from "../../base/index.ts";
import type { MomentFiles } from "../moment/index.ts";

const SMALL_FILE_BYTES_MAX = 64 * 1024;

/** Where the parts of a repository lie in the session. */
export interface GitPlaces {
  /** Top directory of the work tree. */
  top: RawPath;
  /** What is this work tree's own: HEAD, the index. */
  gitDir: RawPath;
  /** What all its work trees share: objects, branches. */
  commonDir: RawPath;
}

/** Returns where the repository of a work tree lies, or `null` where there is none. */
export async function findGitPlaces(files: MomentFiles, top: RawPath): Promise<GitPlaces | null> {
  const dotGit = files.resolve(joinRaw(top, ".git"));
  const entry = dotGit === null ? null : files.find(dotGit);
  if (dotGit === null || entry === null) return null;
  const gitDir = entry.directory === null ? await followFile(files, top, dotGit) : dotGit;
  if (gitDir === null || files.find(joinRaw(gitDir, "HEAD")) === null) return null;
  const common = (await readLine(files, joinRaw(gitDir, "commondir"))) ?? ".";
  const commonDir = files.resolve(absolute(gitDir, common));
  return commonDir === null ? null : { top, gitDir, commonDir };
}

/** Returns the top directory of another work tree of a repository, by its name there. */
export async function findWorktree(
  files: MomentFiles,
  commonDir: RawPath,
  name: RawPath,
): Promise<RawPath | null> {
  const ownDir = `${commonDir}/worktrees/${name}`;
  const dotGit = await readLine(files, `${ownDir}/gitdir`);
  const whole = dotGit === null ? "" : absolute(ownDir, dotGit);
  return whole.endsWith("/.git") ? whole.slice(0, -"/.git".length) || "/" : null;
}

/** Returns the first line of a small file as its bytes are, or `null` without one. */
export async function readLine(files: MomentFiles, rawPath: RawPath): Promise<string | null> {
  const content = await files.read(rawPath, SMALL_FILE_BYTES_MAX);
  const [line = ""] = content?.toString("latin1").split(/\r?\n/, 1) ?? [];
  return line === "" ? null : line.trimEnd();
}

/** In a linked work tree and in a submodule `.git` is a file that says where it is. */
async function followFile(
  files: MomentFiles,
  top: RawPath,
  dotGit: RawPath,
): Promise<RawPath | null> {
  const line = await readLine(files, dotGit);
  const [, target] = /^gitdir: (.+)$/.exec(line ?? "") ?? [];
  return target === undefined ? null : files.resolve(absolute(top, target));
}

function absolute(directory: RawPath, rawPath: RawPath): RawPath {
  return rawPath.startsWith("/") ? rawPath : joinRaw(directory, rawPath);
}
