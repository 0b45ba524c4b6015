import type { BigIntStats } from "node:fs";
import { chmod, chown, utimes } from "node:fs/promises";
import { fdPath, isSystemError, type RawPath, toBytes } from "../../../base/index.ts";
import type { ReadingCalls } from "../../ports/index.ts";
import type { CopyJob, Owner } from "./copy-job.ts";

const PERMISSIONS = 0o7777;
const SET_ID_BITS = 0o6000;
/** What an overlay keeps for itself; it means nothing elsewhere, or something else. */
const OVERLAY_OWN = "trusted.overlay.";
/** Capabilities that whoever runs the file gets. */
const CAPABILITY = "security.capability";

/** What is copied, and where it is from. */
export interface Original {
  rawPath: RawPath;
  hostPath: RawPath;
  status: BigIntStats;
}

/** Returns who owns a copy. */
export function ownerOf({ uid, gid }: BigIntStats, { rules }: CopyJob): Owner {
  return rules.owner ?? { uid: Number(uid), gid: Number(gid) };
}

/**
 * Gives an open copy the owner, mode, extended attributes and times of its original.
 *
 * All by its descriptor: whoever else works in the directory cannot put another file in its place.
 */
export async function copyAttributes(fd: number, original: Original, job: CopyJob): Promise<void> {
  const { status } = original;
  const path = fdPath(fd);
  const { uid, gid } = ownerOf(status, job);
  await chown(path, uid, gid);
  copyXattrs(fd, original, job);
  await chmod(path, modeFor(original, job));
  await utimes(path, secondsOf(status.atimeNs), secondsOf(status.mtimeNs));
}

/** Returns nanoseconds as the seconds that Node's functions take. */
export function secondsOf(nanoseconds: bigint): number {
  return Number(nanoseconds) / 1e9;
}

function modeFor({ status, rawPath }: Original, job: CopyJob): number {
  const mode = Number(status.mode) & PERMISSIONS;
  const givesRights = status.isFile() && (mode & SET_ID_BITS) !== 0;
  if (!(givesRights && job.rules.dropsPrivileges)) return mode;
  job.leaveOut(rawPath, "its set-user-id and set-group-id bits were left out");
  return mode & ~SET_ID_BITS;
}

function copyXattrs(fd: number, { rawPath, hostPath }: Original, job: CopyJob): void {
  for (const [name, value] of Object.entries(xattrsOf(hostPath, job.calls))) {
    if (name === CAPABILITY && job.rules.dropsPrivileges) {
      job.leaveOut(rawPath, "its capabilities were left out");
      continue;
    }
    setIfTaken(fd, { rawPath, name, value: Buffer.from(value, "base64") }, job);
  }
}

/** Returns the extended attributes of something, but for the overlay's own: values in base64. */
export function xattrsOf(hostPath: RawPath, calls: ReadingCalls): Record<string, string> {
  const source = toBytes(hostPath);
  const found: Record<string, string> = {};
  for (const name of xattrNames(source, calls)) {
    if (name.startsWith(OVERLAY_OWN)) continue;
    const value = calls.readXattr(source, name);
    if (value !== null) found[name] = value.toString("base64");
  }
  return found;
}

function setIfTaken(
  fd: number,
  { rawPath, name, value }: { rawPath: RawPath; name: string; value: Buffer },
  job: CopyJob,
): void {
  try {
    job.calls.setXattrOf(fd, name, value);
  } catch (error) {
    const isRefused = isSystemError(error, "EOPNOTSUPP", "ENOTSUP", "EPERM", "EINVAL");
    if (!isRefused) throw error;
    job.leaveOut(rawPath, `its attribute ${name} is not possible there`);
  }
}

function xattrNames(path: Buffer, { listXattrs }: ReadingCalls): string[] {
  try {
    return listXattrs(path);
  } catch (error) {
    if (isSystemError(error, "EOPNOTSUPP", "ENOTSUP")) return [];
    throw error;
  }
}
