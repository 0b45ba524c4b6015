import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { isSystemError } from "../base/index.ts";
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
