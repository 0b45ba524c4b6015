import { getSystemErrorName } from "node:util";
import { runProcess } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { CheckpointPaths } from "./checkpoint-paths.ts";

/** Far beyond what the largest session takes on a slow disk; a program that hangs must end. */
const TIMEOUT_MS = 3_600_000;

/**
 * Runs native/image-copy/image-copy.c: the images of `sourceDir` come to `targetDir`, an empty directory of
 * the store, or to `sourceDir` itself; what equals the reference's shares its blocks.
 *
 * @throws an error with Node's `code` when the disk fails (ENOSPC, EIO), else TOOL_FAILED.
 */
export async function copyImages(options: {
  programPath: string;
  sourceDir: string;
  targetDir: string;
  reference: CheckpointPaths | null;
}): Promise<void> {
  const { programPath, sourceDir, targetDir, reference } = options;
  const compared = reference === null ? [] : [reference.imagesDir, reference.memoryImagesDir];
  try {
    await runProcess([programPath, targetDir, sourceDir, ...compared], {
      timeoutMs: TIMEOUT_MS,
      isBackground: true,
    });
  } catch (error) {
    // Its exit code is the number of the error that it met.
    const exitCode = error instanceof WaypointError ? error.detail?.["exitCode"] : undefined;
    if (typeof exitCode !== "number" || exitCode <= 1) throw error;
    throw Object.assign(new Error(String((error as WaypointError).hint)), {
      code: getSystemErrorName(-exitCode),
      cause: error,
    });
  }
}
