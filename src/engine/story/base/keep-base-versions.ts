import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type RawPath, toBytes } from "../../../base/index.ts";
import type { CheckpointRow } from "../../../portable/model/index.ts";
import type { FoundChanges, ReadContext } from "../../moment/index.ts";
import {
  type BaseVersion,
  FirstViews,
  linkTarget,
  Pace,
  type TreeEntry,
  writeBaseVersions,
} from "../../moment/index.ts";

/** What one checkpoint keeps at most; an installation touches thousands of files. */
const VERSIONS_MAX = 5000;
const FILE_BYTES_MAX = 512 * 1024;
const BYTES_MAX = 8 * 1024 * 1024;
const PROBE_BYTES = 8000;

/**
 * Keeps what the base had where a checkpoint was the first to change it, so that its changes can be
 * joined later with those that somebody makes to the base.
 *
 * Only what is certainly still as the session saw it. Never rejects: without it a change on both
 * sides is a conflict.
 */
export async function keepBaseVersions(
  row: CheckpointRow,
  found: Promise<FoundChanges>,
  { engine, signal }: Pick<ReadContext, "engine" | "signal">,
): Promise<void> {
  try {
    const { changes } = await found;
    const views = new FirstViews(row, engine);
    const versions = new Map<RawPath, BaseVersion>();
    const pace = new Pace(signal);
    let bytesLeft = BYTES_MAX;
    for (const { path, from, change, before, after } of changes) {
      if (versions.size >= VERSIONS_MAX) break;
      if (before === null || before.upperInode !== null) continue;
      await pace.yieldOften();
      // What was moved away is gone from where it was.
      const at = from ?? path;
      const about = from === null ? { change, after } : { change, after: null };
      if (views.of(at, before, about) !== "unchanged") continue;
      const version = versionOf(before, bytesLeft > 0);
      bytesLeft -= version.content.text?.length ?? 0;
      versions.set(at, version);
    }
    if (versions.size > 0) await writeBaseVersions(row.id, versions, engine);
  } catch (error) {
    if (!signal.aborted)
      engine.logger.warn("base not noted", { checkpoint: row.id, reason: String(error) });
  }
}

/**
 * Of a file that is too large only that it was there: where somebody deletes it later, it is not
 * taken for one that the session has made.
 */
function versionOf(entry: TreeEntry, hasRoom: boolean): BaseVersion {
  const { type, mode, uid, gid, sizeBytes } = entry;
  const facts = { type, mode, uid, gid, sizeBytes };
  if (type === "symlink") return { ...facts, content: { digest: `link:${linkTarget(entry)}` } };
  const isKept = type === "file" && hasRoom && sizeBytes <= FILE_BYTES_MAX;
  if (!isKept) return { ...facts, content: { digest: "" } };
  const bytes = readFileSync(toBytes(entry.hostPath));
  const digest = createHash("sha256").update(bytes).digest("hex");
  const isText = !bytes.subarray(0, PROBE_BYTES).includes(0);
  return { ...facts, content: isText ? { digest, text: bytes } : { digest } };
}
