import { createHash } from "node:crypto";
import type { RawPath } from "../../../base/index.ts";
import { type GitTreeEntry, objectId } from "../../../formats/git/index.ts";
import { hasSameContent, type Version, versionOfEntry } from "../../changes/index.ts";
import {
  type FirstViews,
  MomentFiles,
  openCheckpoint,
  type Pace,
  readEntry,
} from "../../moment/index.ts";
import type { Engine } from "../../ports/index.ts";
import { findMergeBase, type GitRepository, type Repositories } from "../../repository/index.ts";
import type { PathChange } from "../desired-changes.ts";
import { isText } from "../is-text.ts";

const EXECUTABLE = 0o111;
const FILE_BYTES_MAX = 4 * 1024 * 1024;

/** The two sides of an apply, and what the session stands on. */
export interface Sides {
  /** Of the files that are written to, by their path there. */
  target: Repositories;
  session: Repositories;
  /** What the session stands on as it is now, by the session's paths. */
  base: Repositories;
  views: FirstViews;
  engine: Engine;
  pace: Pace;
}

/** A file that both sides have, each in its own form. */
export interface Question {
  change: PathChange;
  /** Its path in the target, from "/". */
  targetPath: RawPath;
  ours: Version;
}

/** What a file had that both sides come from; git knows no more of its rights than `mode`. */
interface Found {
  content: Buffer;
  mode: number | null;
}

/**
 * Returns what both sides of a file come from where the session's base does not tell: what git had
 * when the session began to change it, what two repositories have in common, or what the session had
 * first, where the other side has had that, too. `null` where nothing shows that both had it.
 *
 * An older version than the true one is safe: what both sides have done since is the same in both.
 *
 * @throws Error  a repository is damaged.
 */
export async function findBase(question: Question, sides: Sides): Promise<Version | null> {
  const found =
    (await inGitAtBeginning(question, sides)) ??
    (await inBothRepositories(question, sides)) ??
    (await inFirstState(question, sides));
  return found === null ? null : versionOf(found, question);
}

/** The base is read live: only what git had before the session changed the file is common to both. */
async function inGitAtBeginning(
  { change }: Question,
  { base, views }: Sides,
): Promise<Found | null> {
  const { path, before } = change;
  if (before?.type !== "file") return null;
  const repository = await base.around(path);
  if (repository === null) return null;
  const beganNs = views.untouchedUntilNs(path);
  const { index, entry } = await repository.staged();
  const inTree = pathIn(repository, path);
  if (entry !== null && views.ctimeNs(entry) <= beganNs) {
    const staged = index.entries.find((each) => each.path === inTree);
    return staged === undefined ? null : await read(staged, [repository]);
  }
  const commit = await repository.commitAt(beganNs, (each) => views.ctimeNs(each));
  return commit === null ? null : await read(await repository.fileAt(commit, inTree), [repository]);
}

/** A repository that the session has made itself, by a clone for one, says what it comes from. */
async function inBothRepositories(
  { change, targetPath }: Question,
  { target, session, base, pace }: Sides,
): Promise<Found | null> {
  const theirs = await session.around(change.path);
  const ours = await target.around(targetPath);
  if (theirs === null || ours === null) return null;
  const isOfBase = (await base.around(`${theirs.places.top}/.`))?.places.top === theirs.places.top;
  const inTree = pathIn(theirs, change.path);
  if (isOfBase || pathIn(ours, targetPath) !== inTree) return null;
  const [staged, stagedTheirs] = [await stagedId(ours, inTree), await stagedId(theirs, inTree)];
  if (staged !== null && staged.id === stagedTheirs?.id) return await read(staged, [ours, theirs]);
  const heads = [ours.head.commit, theirs.head.commit] as const;
  if (heads[0] === null || heads[1] === null) return null;
  const common = await findMergeBase([heads[0], heads[1]], [ours, theirs], pace);
  if (common === null) return null;
  const file = (await ours.fileAt(common, inTree)) ?? (await theirs.fileAt(common, inTree));
  return await read(file, [ours, theirs]);
}

/** Shown to be common where the target has it still, or has it in git. */
async function inFirstState(
  { change, targetPath, ours }: Question,
  { target, views, engine }: Sides,
): Promise<Found | null> {
  const row = views.firstTouched(change.path);
  if (row === undefined) return null;
  await using moment = await openCheckpoint(row, engine);
  using files = new MomentFiles(moment);
  const entry = files.find(change.path);
  if (entry?.type !== "file" || entry.sizeBytes > FILE_BYTES_MAX) return null;
  const content = await readEntry(entry, change.path, FILE_BYTES_MAX);
  if (content === null) return null;
  const found = { content, mode: null };
  if (await hasSameContent(versionOfEntry(entry), ours)) return found;
  const repository = await target.around(targetPath);
  if (repository === null) return null;
  const inTree = pathIn(repository, targetPath);
  const id = objectId("blob", content, repository.hashBytes).toString("hex");
  if ((await stagedId(repository, inTree))?.id === id) return found;
  const { commit } = repository.head;
  return commit !== null && (await repository.fileAt(commit, inTree))?.id === id ? found : null;
}

async function stagedId(repository: GitRepository, inTree: RawPath): Promise<GitTreeEntry | null> {
  const { index } = await repository.staged();
  return index.entries.find(({ path }) => path === inTree) ?? null;
}

async function read(
  file: GitTreeEntry | null,
  repositories: readonly GitRepository[],
): Promise<Found | null> {
  if (file === null) return null;
  for (const repository of repositories) {
    const content = await repository.blob(file.id);
    if (content !== null) return { content, mode: file.mode };
  }
  return null;
}

function pathIn({ places }: GitRepository, rawPath: RawPath): RawPath {
  return rawPath.slice(places.top === "/" ? 1 : places.top.length + 1);
}

/** Owners, and all of the mode but whether it may be executed, stay as the target has them. */
function versionOf({ content, mode }: Found, { change, ours }: Question): Version {
  const theirs = change.after === null ? ours : versionOfEntry(change.after);
  const isExecutable = (each: number) => (each & EXECUTABLE) !== 0;
  const isChanged = mode !== null && isExecutable(mode) !== isExecutable(theirs.mode);
  const digest = createHash("sha256").update(content).digest("hex");
  return {
    ...{ type: "file", uid: theirs.uid, gid: theirs.gid, sizeBytes: content.length },
    mode: isChanged ? theirs.mode ^ EXECUTABLE : theirs.mode,
    content: isText(content) ? { digest, text: content } : { digest },
  };
}
