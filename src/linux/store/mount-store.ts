import { existsSync, mkdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { pollUntil, runProcess, type StateLayout } from "../../base/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import { MS_NODEV, MS_NOSUID, MS_RDONLY, MS_REMOUNT, mount, unmount } from "../kernel/index.ts";
import { mountOf } from "./store-health.ts";

/**
 * How a store's image is mounted, from the usual way to those that read what a damaged one still says.
 * All but the first write nothing: their loop device is read-only, too.
 */
const MOUNT_OPTIONS = [
  "loop,noatime,discard",
  "loop,noatime,ro",
  "loop,noatime,ro,rescue=nologreplay",
  "loop,noatime,ro,rescue=nologreplay:usebackuproot:ignorebadroots",
];
/** Directories that readers expect in a store. */
const STORE_DIRECTORIES = ["sessions", "instances", "checkpoints", "scratch"];

/**
 * Mounts the image of a store; one that cannot be written is mounted to be read.
 *
 * **On failure** nothing is mounted, and the image is as it was.
 *
 * @returns what the usual mount said where only another one has succeeded; else `null`.
 * @throws whatever the usual mount said.
 */
export async function mountImage(layout: StateLayout): Promise<string | null> {
  let first: unknown;
  for (const options of MOUNT_OPTIONS) {
    try {
      await mountWith(options, layout);
      return first === undefined ? null : reasonOf(first);
    } catch (error) {
      first ??= error;
    }
  }
  throw first;
}

async function mountWith(options: string, layout: StateLayout): Promise<void> {
  const { storeImagePath, storeDir } = layout;
  // A loop device that another daemon has just taken makes mount fail once; the next one is free.
  await pollUntil("a free loop device", { timeoutMs: 5_000, intervalMs: 200 }, () =>
    runProcess(["mount", "-t", "btrfs", "-o", options, storeImagePath, storeDir]).then(
      () => true as const,
      (error) => {
        if (String(error.hint).includes("loop device")) return undefined;
        throw error;
      },
    ),
  );
}

/**
 * Mounts an empty filesystem that nobody can write in the place of a store that is not there, so that
 * nothing is written below its mount point.
 */
export function mountStandIn({ storeDir }: StateLayout): void {
  mount("none", storeDir, "tmpfs", MS_NOSUID | MS_NODEV, "mode=700,size=64k");
  for (const name of STORE_DIRECTORIES) mkdirSync(path.join(storeDir, name));
  mount("none", storeDir, "tmpfs", MS_NOSUID | MS_NODEV | MS_RDONLY | MS_REMOUNT, "");
}

/** Removes what the last daemon has put in the place of a store, which may be mended now. */
export function unmountStandIn({ storeDir }: StateLayout): void {
  // The directory that it covers may not be there yet.
  const mounted = existsSync(storeDir) ? mountOf(storeDir) : undefined;
  const isStandIn = mounted?.type === "tmpfs" && mounted.mountPoint === realpathSync(storeDir);
  if (isStandIn) unmount(storeDir);
}

/** Returns what a program has said, without a full stop. */
export function reasonOf(error: unknown): string {
  const text = error instanceof WaypointError ? (error.hint ?? error.message) : String(error);
  const said = hasCode(error, "DEADLINE_EXCEEDED") ? "no loop device is free" : text;
  return said.trim().replaceAll(/\s+/g, " ").replace(/\.$/, "");
}
