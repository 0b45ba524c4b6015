import { type Changes, type FileChange, isFileNoise } from "../../../shared/protocol/index.ts";

/** A file that the summary may name. */
export interface NamedFile {
  change: FileChange["change"];
  name: string;
}

/** Places of the system, in which what packages and services write is no news. */
const SYSTEM =
  /^\/(bin|sbin|lib\d*|usr(?!\/local\/)|var(?!\/www\/)|run|tmp|dev|proc|sys|boot)(\/|$)/;
const CONFIGURATION = /^\/etc\//;
/** A path is told whole up to this length, else by its end. */
const PATH_CHARACTERS_MAX = 24;
/** Each virtual environment of Python has one at its top. */
const VENV_FILE = "/pyvenv.cfg";
/** So many deleted files are a clearing up, which must not hide what else was changed. */
const DELETED_MANY = 4;
const LAST = 3;
/** What is gone or other than before says more than what is new. */
const ORDER: Readonly<Record<FileChange["change"], number>> = {
  deleted: 0,
  modified: 1,
  renamed: 1,
  added: 2,
};

/** Whether a file is told by the packages that brought it. */
export function isOfPackages({ path }: FileChange, { packages }: Changes): boolean {
  return (packages ?? []).length > 0 && (SYSTEM.test(path) || CONFIGURATION.test(path));
}

/**
 * Returns the files that a reader of one line wants to know by name, those that say most first: what
 * lies where the shell is or in a repository, then what was deleted or changed before what is new.
 */
export function filesThatMatter(changes: Changes): NamedFile[] {
  const homes = homesOf(changes);
  const venvs = newVenvs(changes);
  const whole = wholeDirectories(changes);
  const ranked = (changes.files ?? [])
    .filter(({ group }) => group === undefined)
    .filter(({ path }) => !venvs.some((venv) => isBelow(path, venv)))
    .filter(({ path }) => !whole.some((directory) => isBelow(path, directory.path)))
    .filter(
      (file) => file.type !== "directory" || file.change === "renamed" || whole.includes(file),
    )
    .filter(({ path }) => !isFileNoise(path))
    .map((file) => ({ file, home: homes.find((home) => isBelow(file.path, home)) }))
    .filter(({ file, home }) => home !== undefined || !SYSTEM.test(file.path))
    .filter(({ file, home }) => home !== undefined || !isOfPackages(file, changes))
    .map(({ file, home }) => ({ file, home, rank: rankOf(file, home) }));
  const isSingle = ({ file }: (typeof ranked)[number]) => file.type !== "directory";
  const gone = ranked.filter((each) => each.file.change === "deleted" && isSingle(each));
  const isClearing = gone.length >= DELETED_MANY;
  const rank = ({ file, rank: usual }: (typeof ranked)[number]) =>
    isClearing && gone.some((each) => each.file === file) ? usual + LAST * 10 : usual;
  const ordered = ranked.toSorted((one, other) => rank(one) - rank(other));
  return ordered.map(({ file, home }) => ({
    change: file.change,
    name: `${nameOf(file, home)}${whole.includes(file) ? "/" : ""}`,
  }));
}

/**
 * Returns directories that say all about what is in them: those that went with many files, and
 * repositories that came or went elsewhere than where the shell is.
 */
function wholeDirectories({ files, git, cwd }: Changes): FileChange[] {
  const shell = cwd?.after ?? "/";
  const repositories = new Set((git ?? []).map(({ path }) => path));
  const goneBelow = new Map<string, number>();
  for (const { path, change, type } of files ?? []) {
    if (change !== "deleted" || type === "directory") continue;
    for (const above of parentsOf(path)) goneBelow.set(above, (goneBelow.get(above) ?? 0) + 1);
  }
  const directories = (files ?? []).filter(({ path, type, change, group }) => {
    if (type !== "directory" || group !== undefined) return false;
    if (shell === path || isBelow(shell, path)) return false;
    if (change === "deleted" && (goneBelow.get(path) ?? 0) >= DELETED_MANY) return true;
    return (change === "added" || change === "deleted") && repositories.has(path);
  });
  const paths = new Set(directories.map(({ path }) => path));
  return directories.filter(({ path }) => !parentsOf(path).some((above) => paths.has(above)));
}

/** Returns the directories that a path lies in, the innermost first, without the root. */
function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let above = parentOf(path); above !== ""; above = parentOf(above)) parents.push(above);
  return parents;
}

/** Directories whose files are told by their path in it: the shell's, and those of repositories. */
function homesOf({ cwd, git }: Changes): string[] {
  const shell = cwd?.after ?? null;
  const repositories = (git ?? []).map(({ path }) => path);
  const homes = shell === null || shell === "/" ? repositories : [shell, ...repositories];
  // The innermost is the shortest way to tell a path.
  return homes.toSorted((one, other) => other.length - one.length);
}

/** Virtual environments that are new: the shell's part of a story tells them. */
function newVenvs({ files }: Changes): string[] {
  return (files ?? [])
    .filter(({ path, change }) => change === "added" && path.endsWith(VENV_FILE))
    .map(({ path }) => path.slice(0, -VENV_FILE.length));
}

function isBelow(path: string, directory: string): boolean {
  return path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

function rankOf({ path, change }: FileChange, home: string | undefined): number {
  const depth = Math.min(9, path.slice(home?.length ?? 0).split("/").length - 1);
  return (home === undefined ? 100 : 0) + ORDER[change] * 10 + depth;
}

function nameOf({ path, from }: FileChange, home: string | undefined): string {
  if (from === undefined) return briefPath(path, home);
  const isInPlace = parentOf(path) === parentOf(from);
  const name = isInPlace ? baseName : (at: string) => briefPath(at, home);
  return `${name(from)} → ${name(path)}`;
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function briefPath(path: string, home: string | undefined): string {
  const isInHome = home !== undefined && isBelow(path, home);
  const whole = isInHome ? path.slice(home.length + (home.endsWith("/") ? 0 : 1)) : path;
  return whole.length <= PATH_CHARACTERS_MAX ? whole : baseName(path);
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
