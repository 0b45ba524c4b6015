import { readdirSync, statSync } from "node:fs";
import { link, mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { createSubvolume } from "./btrfs-ioctl.ts";

/** Unit of what stat says. */
const BLOCK_BYTES = 512;

/** Our own programs that handle images, built. */
export interface ImagePrograms {
  /** native/image-copy/image-copy.c */
  copyProgramPath: string;
  /** native/image-sums/image-sums.c */
  sumsProgramPath: string;
}

/** Makes a directory with the files of another one: the same files under two names. */
export async function linkFiles(sourceDir: string, targetDir: string): Promise<void> {
  await mkdir(targetDir, { mode: 0o700 });
  for (const name of await readdir(sourceDir)) {
    await link(path.join(sourceDir, name), path.join(targetDir, name));
  }
}

/** Makes a directory for images in the store: a subvolume, so that its size can be counted. */
export function makeDirInStore(directory: string): string {
  createSubvolume(directory);
  return directory;
}

/** Returns what the files of a directory take. */
export function allocatedBytes(directory: string): number {
  const files = readdirSync(directory).map((name) => statSync(path.join(directory, name)));
  return files.reduce((sum, { blocks }) => sum + blocks * BLOCK_BYTES, 0);
}
