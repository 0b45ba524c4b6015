import type { FailureFacts } from "./explain-failure.ts";
import { readImageProcesses } from "./read-image-processes.ts";

/**
 * Reads from the images what explains a failed restore: the names of the processes.
 *
 * Images that cannot be read are explained by the log alone.
 */
export async function readImageFacts(imagesDir: string): Promise<FailureFacts> {
  const processes = await readImageProcesses(imagesDir).catch(() => []);
  return {
    rootPid: 0,
    // What CRIU sees them as is a new number at each restore.
    processes: processes.map(({ pid, command }) => ({
      ...{ pid: 0, innerPid: pid, command, tracerPid: 0 },
      ...{ descriptors: new Map(), unusualPaths: [] },
    })),
    outsideSocketInodes: new Set(),
  };
}
