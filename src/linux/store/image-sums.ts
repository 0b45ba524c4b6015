import { createHash } from "node:crypto";
import { readFile, rename, rm } from "node:fs/promises";
import { getSystemErrorName } from "node:util";
import { isSystemError, runProcess } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";

/** Far beyond what the largest checkpoint takes on a slow disk; a program that hangs must end. */
const TIMEOUT_MS = 3_600_000;
/** What native/image-sums/image-sums.c ends with where an image is not what was captured. */
const EXIT_CODE_DAMAGED = 126;
const ALGORITHM = "sha256";

/** Which images to compare: `pages` are those with the memory itself, `rest` all others. */
export type ImagesPart = "all" | "rest" | "pages";

/** What is compared with its sums. */
export interface Comparison {
  /** Of the file with the sums. */
  digest: string;
  part: ImagesPart;
  /** Nobody waits for it. @defaultValue false */
  isBackground?: boolean;
}

/** How the sums of one checkpoint are made and compared: native/image-sums/image-sums.c. */
export interface SumsPlace {
  programPath: string;
  imagesDir: string;
  /** File with a sum for every 64 KiB of every image. */
  sumsPath: string;
}

/** Images that others were put together from. */
export interface SumsBefore {
  /** File with what has other bytes by now. */
  changedPath: string;
  sumsPath: string;
}

/**
 * Makes the sums of a directory of images, and returns the digest of their file.
 *
 * @param before  whose sums those have that have the same bytes. @defaultValue all are read
 * @throws an error with Node's `code` when the disk fails (ENOSPC, EIO).
 */
export async function makeSums(
  place: SumsPlace,
  before: SumsBefore | null = null,
): Promise<string> {
  const { programPath, imagesDir, sumsPath } = place;
  const unfinishedPath = `${sumsPath}.new`;
  await rm(unfinishedPath, { force: true });
  const known = before === null ? [] : [before.changedPath, before.sumsPath];
  const argv = [programPath, "make", imagesDir, unfinishedPath, ...known] as const;
  const { exitCode, stderr } = await run(argv, { isBackground: true });
  if (exitCode !== 0) throw diskError(exitCode, stderr);
  const digest = digestOf(await readFile(unfinishedPath));
  await rename(unfinishedPath, sumsPath);
  return digest;
}

/** Returns what is wrong with images, "core-1.img has another content"; `null` when all are as captured. */
export async function findDamage(
  { programPath, imagesDir, sumsPath }: SumsPlace,
  { digest, part, isBackground = false }: Comparison,
): Promise<string | null> {
  const [found, { exitCode, stdout, stderr }] = await Promise.all([
    digestOfFile(sumsPath),
    run([programPath, "check", imagesDir, sumsPath, part], { isBackground }),
  ]);
  if (found === null) return "images.sums is missing";
  if (found !== digest) return "images.sums has another content";
  if (exitCode === EXIT_CODE_DAMAGED) return stdout.trim();
  if (exitCode === 0) return null;
  throw diskError(exitCode, stderr);
}

/** Returns the error for images of a checkpoint that are nowhere. */
export function goneError(id: string, imagesDir: string): WaypointError {
  const text = `The process images of checkpoint ${id} are gone.`;
  return new WaypointError("CHECKPOINT_INCOMPLETE", text, {
    hint: "The machine restarted before they were durable; its files are still there.",
    detail: { imagesDir },
  });
}

/** Returns the error for images of a checkpoint that are not what was captured. */
export function damagedError(id: string, damage: string, imagesDir: string): WaypointError {
  const [image = ""] = damage.split(" ");
  return new WaypointError("CHECKPOINT_INCOMPLETE", `Checkpoint ${id} is damaged: ${damage}.`, {
    hint: "Its processes cannot come back; its files can (`restore --only files`). Look at the disk and the memory of this machine.",
    detail: { checkpoint: id, image, imagesDir },
  });
}

function run(argv: readonly [string, ...string[]], how: { isBackground?: boolean } = {}) {
  const okExitCodes = Array.from({ length: EXIT_CODE_DAMAGED + 1 }, (_, code) => code);
  return runProcess(argv, { timeoutMs: TIMEOUT_MS, okExitCodes, ...how });
}

/** Returns the digest of a file of sums; `null` where there is none. */
export async function digestOfFile(sumsPath: string): Promise<string | null> {
  try {
    return digestOf(await readFile(sumsPath));
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return null;
    throw error;
  }
}

function digestOf(bytes: Buffer): string {
  return `${ALGORITHM}:${createHash(ALGORITHM).update(bytes).digest("hex")}`;
}

function diskError(exitCode: number, stderr: string): Error {
  const code = getSystemErrorName(-exitCode);
  const cause = new WaypointError("TOOL_FAILED", stderr.trim());
  return Object.assign(new Error(stderr.trim()), { code, cause });
}
