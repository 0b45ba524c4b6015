import { lstatSync, mkdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { parseMountInfo } from "../../formats/proc/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Bind } from "../../shared/protocol/index.ts";
import {
  explainDiskError,
  MS_BIND,
  MS_NODEV,
  MS_NOSUID,
  MS_RDONLY,
  MS_REMOUNT,
  mount,
} from "../kernel/index.ts";
import { mountFlags } from "./host-mounts.ts";
import { mountOverlay } from "./root-filesystem.ts";

/** What stands in for the source of a bind that is gone. */
const EMPTY_DIR = "/run/waypoint/empty";

/**
 * Mounts an overlay over one of the host's mounts, at the same path below a session's root.
 *
 * @throws SANDBOX_FAILED  the host has nothing mounted there any more, or the kernel refuses.
 */
export function mountHostCopy(
  rootDir: string,
  hostMount: string,
  layers: { upperDir: string; workDir: string },
): void {
  const flags = mountFlags(hostMount);
  if (flags === null) {
    throw new WaypointError("SANDBOX_FAILED", `The host has nothing mounted on ${hostMount} now.`, {
      hint: "Mount it on the host, then `waypoint daemon stop --sessions`: the next daemon sees it.",
      detail: { hostMount },
    });
  }
  mountOverlay(makeMountPoint(rootDir, hostMount), { ...layers, baseDir: hostMount, flags });
}

/** Tells whether the source of a bind is still a directory. */
export function isBindPresent({ source }: Bind): boolean {
  return statSync(source, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/**
 * Tells whether the directory that a session has bound was removed on the host meanwhile, even if
 * another one has its name now.
 *
 * @param initHostPid  a process of the session.
 */
export function isBindRemoved({ target }: Bind, initHostPid: number): boolean {
  const mounts = parseMountInfo(readFileSync(`/proc/${initHostPid}/mountinfo`, "utf8"));
  const bound = mounts.findLast(({ mountPoint }) => mountPoint === target);
  return bound?.root.endsWith("//deleted") ?? false;
}

/**
 * Mounts a directory of the host below a session's root; an empty one in place of one that is gone.
 *
 * Devices and set-user-id bits have no effect in it.
 *
 * @throws SANDBOX_FAILED  the target is no directory any more, or the kernel refuses.
 */
export function mountBind(rootDir: string, bind: Bind): void {
  const isPresent = isBindPresent(bind);
  if (!isPresent) prepareEmptyDir();
  const target = makeMountPoint(rootDir, bind.target);
  const readOnly = bind.readOnly || !isPresent ? MS_RDONLY : 0;
  try {
    mount(isPresent ? bind.source : EMPTY_DIR, target, null, MS_BIND, null);
    mount("none", target, null, MS_BIND | MS_REMOUNT | MS_NOSUID | MS_NODEV | readOnly, null);
  } catch (cause) {
    throw new WaypointError("SANDBOX_FAILED", `${bind.source} could not be bound into a session.`, {
      hint: "The kernel's log (`dmesg`) may say why.",
      detail: { reason: String(cause), target: bind.target },
      cause,
    });
  }
}

/**
 * Mounts an overlay over a directory of the host where a session has it bound: what is written
 * there stays in the layers.
 *
 * @throws SANDBOX_FAILED  the target is no directory any more, or the kernel refuses.
 */
export function mountBindCopy(
  rootDir: string,
  { source, target }: Bind,
  layers: { upperDir: string; workDir: string },
): void {
  const flags = MS_NOSUID | MS_NODEV;
  mountOverlay(makeMountPoint(rootDir, target), { ...layers, baseDir: source, flags });
}

/** A filesystem that is read-only itself: CRIU gives a mount the flags it had at the dump. */
function prepareEmptyDir(): void {
  if (statSync(EMPTY_DIR, { throwIfNoEntry: false }) !== undefined) return;
  mkdirSync(EMPTY_DIR, { recursive: true, mode: 0o755 });
  mount("tmpfs", EMPTY_DIR, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "mode=755,size=4k");
}

/**
 * Makes the directory below a root that something is mounted on, and returns its path on the host.
 *
 * Links are never followed: the session may have made one that leads out of its root.
 */
function makeMountPoint(rootDir: string, insidePath: string): string {
  let directory = rootDir;
  for (const part of insidePath.split("/").filter(Boolean)) {
    directory = path.join(directory, part);
    const status = lstatSync(directory, { throwIfNoEntry: false });
    if (status?.isDirectory()) continue;
    if (status !== undefined) throw noMountPoint(insidePath);
    try {
      mkdirSync(directory, { mode: 0o755 });
    } catch (error) {
      throw explainDiskError(error, "mount a session");
    }
  }
  return directory;
}

function noMountPoint(insidePath: string): WaypointError {
  return new WaypointError("SANDBOX_FAILED", `Nothing can be mounted on ${insidePath}.`, {
    hint: "In the session's files it is, or lies below, a file or a symbolic link.",
    detail: { target: insidePath },
  });
}
