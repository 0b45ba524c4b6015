import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isSystemError } from "../../base/index.ts";
import {
  bytesField,
  bytesFields,
  messageField,
  numberField,
  type WireMessage,
  withFields,
  withImageFields,
} from "../../formats/criu-images/index.ts";
import { readEntries } from "./read-image-processes.ts";

const FILES = "files.img";
/** What native/criu-preload/socket-preload.c has found in a dump, and what it reads at a restore. */
const FOUND_NAME = "sockets-found";
const MOVED_NAME = "sockets-moved";

// file_entry, unix_sk_entry
const FILE_UNIX_SOCKET = 16;
const UNIX_INODE = 2;
const UNIX_NAME = 11;
const UNIX_DIRECTORY = 14;
const UNIX_DELETED = 15;
/** Ours, beyond those that CRIU has or knows: the name that was bound, and further paths. */
const UNIX_BOUND_NAME = 1000;
const UNIX_OTHER_PATHS = 1001;

/** A path that can be bound has room for a zero at its end. */
const PATH_BYTES_MAX = 107;

/** A bound socket that is not to be found by its name alone. Texts have each byte as one character. */
export interface FoundSocket {
  inode: number;
  fileInode: number;
  /** How many names its file has. */
  nameCount: number;
  bound: string;
  /** Where the name that was bound is now, null where that very name is gone. */
  path: string | null;
}

/** Returns the names of a file by its inode, inside the session ("latin1"). */
export type NamesOf = (inode: number) => string[];

/** Says to the preload of a dump where to write; what an earlier try has written goes. */
export async function beginSocketNotes(workDir: string): Promise<string> {
  const path = join(workDir, FOUND_NAME);
  await rm(path, { force: true });
  return path;
}

/**
 * Gives sockets that were renamed or linked their present paths in fresh images.
 *
 * @throws CHECKPOINT_INCOMPLETE  an image is missing or cannot be read.
 */
export async function placeMovedSockets(
  imagesDir: string,
  workDir: string,
  namesOf: NamesOf,
): Promise<void> {
  const found = parseFound(await readOr(join(workDir, FOUND_NAME)));
  const paths = new Map(found.map((socket) => [socket.inode, pathsOf(socket, namesOf)]));
  const bounds = new Map(found.map(({ inode, bound }) => [inode, bound]));
  if (found.length === 0) return;
  const path = join(imagesDir, FILES);
  const image = await readFile(path);
  await writeFile(
    path,
    withImageFields(image, "files", (file) => {
      const raw = bytesField(file, FILE_UNIX_SOCKET);
      const socket = messageField(file, FILE_UNIX_SOCKET);
      if (raw === undefined || socket === undefined) return undefined;
      const inode = numberField(socket, UNIX_INODE);
      const [first, ...others] = paths.get(inode) ?? [];
      if (first === undefined) return undefined;
      const placed = withFields(raw, [
        [UNIX_NAME, [bytes(`${first}\0`)]],
        [UNIX_DIRECTORY, []],
        [UNIX_DELETED, []],
        [UNIX_BOUND_NAME, [bytes(bounds.get(inode) ?? "")]],
        [UNIX_OTHER_PATHS, others.map(bytes)],
      ]);
      return [[FILE_UNIX_SOCKET, [placed]]];
    }),
  );
}

/**
 * Writes down for the preload of a restore which sockets have other paths than the names they were
 * bound to, and returns where; null where there is none.
 *
 * @throws CHECKPOINT_INCOMPLETE  the image is missing or cannot be read.
 */
export async function writeMovedSockets(
  imagesDir: string,
  workDir: string,
): Promise<string | null> {
  const files = await readEntries(imagesDir, FILES, "files");
  const lines = files.flatMap((file) => {
    const socket = messageField(file, FILE_UNIX_SOCKET);
    const bound = socket === undefined ? undefined : bytesField(socket, UNIX_BOUND_NAME);
    if (socket === undefined || bound === undefined) return [];
    const first = bytesField(socket, UNIX_NAME)?.subarray(0, -1) ?? Buffer.alloc(0);
    const texts = [first, bound, ...bytesFields(socket, UNIX_OTHER_PATHS)];
    return [`${texts.map((text) => text.toString("hex")).join(" ")}\n`];
  });
  if (lines.length === 0) return null;
  const path = join(workDir, MOVED_NAME);
  await writeFile(path, lines.join(""));
  return path;
}

/** Returns the name that a socket was bound to, as it says itself. */
export function boundName(socket: WireMessage): string {
  const name = bytesField(socket, UNIX_BOUND_NAME) ?? bytesField(socket, UNIX_NAME);
  return name?.toString("utf8") ?? "";
}

/** Returns the lines of the preload; what is no such line is left out. */
export function parseFound(text: string): FoundSocket[] {
  return text.split("\n").flatMap((line) => {
    const match = /^(\d+) (\d+) (\d+) ([\da-f]+) (-|[\da-f]+)$/.exec(line);
    if (match === null) return [];
    const [, inode, fileInode, nameCount, bound = "", path = ""] = match;
    const decode = (hex: string) => Buffer.from(hex, "hex").toString("latin1");
    return [
      {
        inode: Number(inode),
        fileInode: Number(fileInode),
        nameCount: Number(nameCount),
        bound: decode(bound),
        path: path === "-" ? null : decode(path),
      },
    ];
  });
}

/** Returns all paths of a socket's file, first one that can be bound; none where there is no such. */
export function pathsOf(socket: FoundSocket, namesOf: NamesOf): string[] {
  const { path, nameCount, fileInode } = socket;
  const known = path === null ? [] : [path];
  const names = known.length === nameCount ? [] : namesOf(fileInode);
  // The same number in another filesystem is another file.
  const isSame = path === null || names.includes(path);
  const all = [...new Set([...known, ...(isSame ? names : [])])];
  const first = all.find((each) => each.length <= PATH_BYTES_MAX);
  return first === undefined ? [] : [first, ...all.filter((each) => each !== first)];
}

function bytes(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

async function readOr(path: string): Promise<string> {
  try {
    return await readFile(path, "latin1");
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return "";
    throw error;
  }
}
