import { closeSync, openSync } from "node:fs";
import { runProcess } from "../../base/index.ts";
import { parseMountInfo } from "../../formats/proc/index.ts";
import { openWithMounts } from "../kernel/index.ts";

/** Opens the mount namespace that a process is in; close it. */
export function openMountNamespace(hostPid: number): number {
  return openSync(`/proc/${hostPid}/ns/mnt`, "r");
}

/**
 * Mounts what is mounted at `viewDir`, with what is mounted in it, on a directory of another mount
 * namespace too.
 *
 * @param mountProgramPath  the native program that does it from within.
 * @throws TOOL_FAILED
 */
export async function attachView(
  viewDir: string,
  to: { namespaceFd: number; directoryFd: number },
  mountProgramPath: string,
): Promise<void> {
  const treeFd = openWithMounts(viewDir);
  try {
    const descriptors = [treeFd, to.namespaceFd, to.directoryFd];
    await runProcess([mountProgramPath], { descriptors });
  } finally {
    closeSync(treeFd);
  }
}

/**
 * Unmounts, in a mount namespace, everything whose source is accepted; who is in it keeps it until
 * they leave.
 *
 * @param namespace  open, or the path of one.
 */
export async function unmountIn(
  namespace: number | string,
  isWanted: (source: string) => boolean,
): Promise<void> {
  const at = typeof namespace === "string" ? namespace : `/proc/${process.pid}/fd/${namespace}`;
  const enter = ["nsenter", `--mount=${at}`] as const;
  const { stdout } = await runProcess([...enter, "cat", "/proc/self/mountinfo"]);
  const found = parseMountInfo(stdout).filter(({ source }) => isWanted(source));
  // What is mounted in another one comes after it.
  for (const { mountPoint } of found.reverse()) {
    await runProcess([...enter, "umount", "--lazy", "--no-canonicalize", "--", mountPoint]);
  }
}
