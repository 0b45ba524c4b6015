import { createHash } from "node:crypto";
import { type BigIntStats, lstatSync, readlinkSync } from "node:fs";
import { fileTypeOf, type RawPath, toBytes } from "../../base/index.ts";
import type { FileType } from "../../shared/protocol/index.ts";
import { haveSameAttributes, openEntry, type TreeEntry } from "../moment/index.ts";
import type { ReadingCalls } from "../ports/index.ts";

const CHUNK_BYTES = 1024 * 1024;

/** What something is or was at one path; `null` stands for nothing there. */
export interface Version {
  type: FileType;
  mode: number;
  uid: number;
  gid: number;
  sizeBytes: number;
  /** Extended attributes, where they are to change by themselves: values in base64. */
  xattrs?: Record<string, string>;
  /** Where its bytes lie, or only their digest where they are not kept. */
  content: { hostPath: RawPath } | { digest: string; text?: Buffer };
}

/** Returns a version from what lstat says of `hostPath`. */
export function versionOf(status: BigIntStats, hostPath: RawPath): Version {
  return {
    type: fileTypeOf(status.mode) ?? "file",
    mode: Number(status.mode) & 0o7777,
    uid: Number(status.uid),
    gid: Number(status.gid),
    sizeBytes: Number(status.size),
    content: { hostPath },
  };
}

/** Returns a version of what a moment shows. */
export function versionOfEntry(entry: TreeEntry): Version {
  const { type, mode, uid, gid, sizeBytes, hostPath } = entry;
  return { type, mode, uid, gid, sizeBytes, content: { hostPath } };
}

/** Tells whether two versions are alike in all that is taken over: kind, content, rights, owner. */
export async function isSame(
  one: Version | null,
  other: Version | null,
  calls: ReadingCalls,
): Promise<boolean> {
  if (one === null || other === null) return one === other;
  return (
    one.type === other.type &&
    (one.type === "symlink" || one.mode === other.mode) &&
    hasSameOwner(one, other) &&
    hasSameXattrs(one, other, calls) &&
    (await hasSameContent(one, other))
  );
}

export function hasSameOwner(one: Version, other: Version): boolean {
  return one.uid === other.uid && one.gid === other.gid;
}

/** Tells whether the bytes of two files, or the targets of two links, are the same. */
export async function hasSameContent(one: Version, other: Version): Promise<boolean> {
  if (one.type !== other.type) return false;
  if (one.type !== "file" && one.type !== "symlink") return true;
  const areRead = "hostPath" in one.content && "hostPath" in other.content;
  if (areRead && one.sizeBytes !== other.sizeBytes) return false;
  return (await digestOf(one)) === (await digestOf(other));
}

/** Returns what tells the content of a file or link from others; empty for other things. */
export async function digestOf({ type, content }: Version): Promise<string> {
  if ("digest" in content) return content.digest;
  if (type === "symlink") return `link:${linkTargetOf(content.hostPath)}`;
  if (type !== "file") return "";
  const hash = createHash("sha256");
  await using file = await openEntry(content);
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, at);
    if (bytesRead === 0) return hash.digest("hex");
    hash.update(chunk.subarray(0, bytesRead));
    at += bytesRead;
  }
}

/** Returns where a symbolic link leads, each byte one character. */
export function linkTargetOf(hostPath: RawPath): RawPath {
  return readlinkSync(toBytes(hostPath), "latin1");
}

export function hasSameXattrs(one: Version, other: Version, calls: ReadingCalls): boolean {
  if (!("hostPath" in one.content && "hostPath" in other.content)) return true;
  if (one.type !== "file" && one.type !== "directory") return true;
  return haveSameAttributes(one.content, other.content, calls);
}

/** Returns what is at a path of this machine. */
export function versionAt(hostPath: RawPath): Version {
  return versionOf(lstatSync(toBytes(hostPath), { bigint: true }), hostPath);
}
