import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout that the tidy tests look at. */
export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

const TEXT_FILE_BYTES_MAX = 2 * 1024 * 1024;
const HOUSES_OF_ONE_ROOM = new Set(["base", "operations"]);
const WITHOUT_GIT = ["bin", "docs", "native", "scripts", "src", "test", "toolchain", "examples"];

/** Returns the files of the project, tracked or about to be, as paths from the root. */
export function projectFiles(): string[] {
  const listed = listWithGit() ?? listWithFind();
  return listed.split("\0").filter((file) => file !== "" && isFile(file));
}

function listWithGit(): string | null {
  if (!existsSync(path.join(ROOT, ".git"))) return null;
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  // A checkout that belongs to another user is still the project.
  return run("git", ["-c", `safe.directory=${ROOT}`, ...args]);
}

function listWithFind(): string {
  const args = [...WITHOUT_GIT, "-type", "f", "-not", "-path", "*/node_modules/*", "-print0"];
  return run("find", args);
}

function run(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { cwd: ROOT, encoding: "utf8" });
}

/** Returns the text of a file, or null for one that is absent or not text. */
export function readText(file: string): string | null {
  if (!isFile(file)) return null;
  const bytes = readFileSync(path.join(ROOT, file));
  if (bytes.length > TEXT_FILE_BYTES_MAX || bytes.includes(0)) return null;
  return bytes.toString("utf8");
}

/** Returns the files below one of `folders` with one of `extensions`. */
export function filesBelow(folders: readonly string[], extensions: readonly string[]): string[] {
  return projectFiles().filter(
    (file) =>
      folders.some((folder) => file.startsWith(`${folder}/`)) &&
      extensions.includes(path.extname(file)),
  );
}

/** Returns the rooms of src as paths below it: `base`, `engine/restore`, … */
export function roomsOfSource(): string[] {
  const inRooms = filesBelow(["src"], [".ts"]).map((file) => file.split("/").slice(1, -1));
  const rooms = inRooms.map(([house = "", room]) =>
    HOUSES_OF_ONE_ROOM.has(house) || room === undefined ? house : `${house}/${room}`,
  );
  // A file beside the rooms, as src/index.ts.
  return [...new Set(rooms)].filter((room) => room.includes("/") || HOUSES_OF_ONE_ROOM.has(room));
}

/** Tells whether the owner may execute `file`. */
export function isExecutable(file: string): boolean {
  return (statSync(path.join(ROOT, file)).mode & 0o100) !== 0;
}

function isFile(file: string): boolean {
  return statSync(path.join(ROOT, file), { throwIfNoEntry: false })?.isFile() ?? false;
}
