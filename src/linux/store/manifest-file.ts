import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { isSystemError, requireKnownManifest } from "../../base/index.ts";
import { explainDiskError } from "../kernel/index.ts";

/** Writes a checkpoint's manifest, atomically for readers. @throws STORE_FULL */
export async function writeManifestFile(manifestPath: string, manifest: object): Promise<void> {
  const unfinishedPath = `${manifestPath}.new`;
  try {
    await writeFile(unfinishedPath, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
    await rename(unfinishedPath, manifestPath);
  } catch (error) {
    throw explainDiskError(error, "record a checkpoint");
  }
}

/** Reads a checkpoint's manifest; `null` where there is none. */
export function readManifestFile(manifestPath: string): unknown {
  try {
    return JSON.parse(readFileSync(manifestPath, "utf8"));
  } catch (error) {
    if (isSystemError(error, "ENOENT", "ENOTDIR")) return null;
    throw error;
  }
}

/** Refuses what a newer Waypoint has written; a damaged manifest is not newer. @throws FORMAT_TOO_NEW */
export function requireKnownManifestFile(manifestPath: string, checkpointId: string): void {
  let manifest: unknown;
  try {
    manifest = readManifestFile(manifestPath);
  } catch {
    // The catalog has what it said.
    return;
  }
  requireKnownManifest(manifest, checkpointId);
}
