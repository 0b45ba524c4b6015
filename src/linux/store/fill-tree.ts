import { lstatSync, realpathSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { runProcess } from "../../base/index.ts";

/** Copying a whole machine takes minutes; whoever waits can cancel it. */
const TIMEOUT_MS = 6 * 3600 * 1000;
const KEEP = ["--numeric-owner", "--xattrs", "--xattrs-include=*", "--acls"];
const UNPACK = [...KEEP, "--same-owner", "--same-permissions", "--delay-directory-restore"];
const WITH_PARENT = "setpriv --pdeathsig KILL";
/** tar's exit code where files changed while they were read: each is there, as it was at some moment. */
const CHANGED_MEANWHILE = 1;

/** A machine's own: a session mounts something else there, or nobody wants yesterday's. */
const MACHINES_OWN = ["/proc", "/sys", "/dev", "/run", "/tmp"];

/** What of a tree is copied; all paths are absolute, and of the tree that is copied from. */
export interface TreeCopy {
  sourceDir: string;
  /** Filesystems that are mounted in it, whose content is copied, too. */
  mountPoints: readonly string[];
  /** Files that are left out, and directories that stay empty, as a machine's own do. */
  without: readonly string[];
}

/**
 * Copies a tree into an empty directory, with owners, rights, attributes, links and holes.
 *
 * Other filesystems than that of the tree are left out, but for those that are named.
 *
 * @throws TOOL_FAILED
 */
export async function copyTree(
  tree: TreeCopy,
  targetDir: string,
  signal: AbortSignal,
): Promise<void> {
  await copyParts(
    [".", ...tree.mountPoints.map((at) => inside(at, tree))],
    tree,
    targetDir,
    signal,
  );
}

/**
 * Puts the same into a snapshot of the tree's own filesystem: takes what is left out away, and copies
 * what is mounted in it.
 *
 * @throws TOOL_FAILED
 */
export async function completeSnapshot(
  tree: TreeCopy,
  snapshotDir: string,
  signal: AbortSignal,
): Promise<void> {
  for (const without of leftOut(tree)) {
    signal.throwIfAborted();
    await removeContent(path.join(snapshotDir, inside(without, tree)));
  }
  const mounts = tree.mountPoints.map((at) => inside(at, tree));
  if (mounts.length > 0) await copyParts(mounts, tree, snapshotDir, signal);
}

async function copyParts(
  parts: readonly string[],
  tree: TreeCopy,
  targetDir: string,
  signal: AbortSignal,
): Promise<void> {
  const excluded = leftOut(tree).map((at) => {
    const name = escapeWildcards(inside(at, tree));
    const isDirectory = lstatSync(at, { throwIfNoEntry: false })?.isDirectory() === true;
    return `--exclude=${isDirectory ? `${name}/*` : name}`;
  });
  const pack = [
    "--create",
    "--file=-",
    `--directory=${tree.sourceDir}`,
    "--one-file-system",
    "--sparse",
  ];
  const reading = [...pack, ...KEEP, "--anchored", ...excluded, "--", ...parts];
  // bash tells how either has ended; both end with it, when somebody cancels.
  const write = `${WITH_PARENT} tar --extract --file=- --directory="$TARGET_DIR" ${UNPACK.join(" ")}`;
  const line = `${WITH_PARENT} tar "$@" | ${write}`;
  await runProcess(["bash", "-f", "-o", "pipefail", "-c", line, "bash", ...reading], {
    ...{ timeoutMs: TIMEOUT_MS, signal, okExitCodes: [0, CHANGED_MEANWHILE] },
    env: { ...process.env, TARGET_DIR: targetDir },
  });
}

/** Removes a file, or what is in a directory; nothing that a link on the way leads to. */
async function removeContent(target: string): Promise<void> {
  const found = lstatSync(target, { throwIfNoEntry: false });
  if (found === undefined || realpathSync(path.dirname(target)) !== path.dirname(target)) return;
  if (!found.isDirectory()) return await rm(target);
  for (const name of await readdir(target)) {
    await rm(path.join(target, name), { recursive: true, force: true });
  }
}

/**
 * Unpacks an archive of tar, compressed or not, into an empty directory. Nothing of it lands outside:
 * tar takes a leading "/" away, leaves names with ".." out and makes such links last.
 *
 * @throws TOOL_FAILED
 */
export async function unpackTar(
  tarPath: string,
  targetDir: string,
  signal: AbortSignal,
): Promise<void> {
  const argv = [
    "tar",
    "--extract",
    `--file=${tarPath}`,
    "--force-local",
    `--directory=${targetDir}`,
  ];
  await runProcess([...argv, ...UNPACK] as [string, ...string[]], {
    timeoutMs: TIMEOUT_MS,
    signal,
  });
}

/** Returns the space that a tree takes, in bytes. @throws TOOL_FAILED */
export async function treeBytes(directory: string, signal: AbortSignal): Promise<number> {
  const argv = ["du", "--summarize", "--block-size=1", directory] as const;
  const { stdout } = await runProcess([...argv], { timeoutMs: TIMEOUT_MS, signal });
  return Number(/^\d+/.exec(stdout)?.[0] ?? Number.NaN);
}

/**
 * Lets a tree have the content once that it shares with another one on the same btrfs: files that are at
 * the same place and equal. Nothing else changes.
 *
 * @throws TOOL_FAILED
 */
export async function shareTree(
  { programPath, targetDir, likeDir }: { programPath: string; targetDir: string; likeDir: string },
  signal: AbortSignal,
): Promise<void> {
  await runProcess([programPath, targetDir, likeDir], { timeoutMs: TIMEOUT_MS, signal });
}

function leftOut({ sourceDir, without }: TreeCopy): string[] {
  return [...MACHINES_OWN.map((directory) => path.join(sourceDir, directory)), ...without];
}

/** Returns a path of a tree as tar names it in there. */
function inside(absolute: string, { sourceDir }: TreeCopy): string {
  return `./${absolute.slice(sourceDir === "/" ? 1 : sourceDir.length + 1)}`;
}

function escapeWildcards(text: string): string {
  return text.replaceAll(/[\\*?[\]]/g, "\\$&");
}
