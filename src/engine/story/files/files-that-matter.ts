import type { Changes, FileChange } from "../../../shared/protocol/index.ts";

/** A file that the summary may name. */
export interface NamedFile {
  change: FileChange["change"];
  name: string;
}

/** Files that programs write for themselves beside those of people: editors, shells, package managers. */
const NOISE_FILES: readonly RegExp[] = [
  /^\..*\.sw[a-z]$|~$|^\.#|^#.*#$|^4913$|\.(bak|orig|rej|tmp|pid|pyc)$/,
  /^\.(bash_history|python_history|node_repl_history|viminfo|lesshst|wget-hsts|rnd|sudo_as_admin_successful)$/,
  /^(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|.*\.lock|\.package-lock\.json)$/,
  /^(\.DS_Store|Thumbs\.db|\.coverage|\.(eslint|stylelint)cache|.*\.tsbuildinfo)$/,
  /^(\.pwd\.lock|lock|lock-frontend|go\.sum|.*-(journal|wal|shm))$/,
];
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

/** Whether a file is one that programs keep for themselves, wherever it lies. */
export function isFileNoise(path: string): boolean {
  const name = baseName(path);
  return NOISE_FILES.some((pattern) => pattern.test(name));
}

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
  const ranked = (changes.files ?? [])
    .filter(({ group }) => group === undefined)
    .filter(({ path }) => !venvs.some((venv) => isBelow(path, venv)))
    .filter(({ type, change }) => type !== "directory" || change === "renamed")
    .filter(({ path }) => !isFileNoise(path))
    .map((file) => ({ file, home: homes.find((home) => isBelow(file.path, home)) }))
    .filter(({ file, home }) => home !== undefined || !SYSTEM.test(file.path))
    .filter(({ file, home }) => home !== undefined || !isOfPackages(file, changes))
    .map(({ file, home }) => ({ file, home, rank: rankOf(file, home) }));
  const isClearing = ranked.filter(({ file }) => file.change === "deleted").length >= DELETED_MANY;
  const rank = ({ file, rank: usual }: (typeof ranked)[number]) =>
    isClearing && file.change === "deleted" ? usual + LAST * 10 : usual;
  const ordered = ranked.toSorted((one, other) => rank(one) - rank(other));
  return ordered.map(({ file, home }) => ({ change: file.change, name: nameOf(file, home) }));
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
