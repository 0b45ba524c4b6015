import { runProcess } from "../../../base/index.ts";
import { parseMountInfo } from "../../../formats/proc/index.ts";

/**
 * Unmounts, in a mount namespace, everything whose source is accepted; who is in it keeps it until
 * they leave.
 */
export async function unmountIn(
  namespacePath: string,
  isWanted: (source: string) => boolean,
): Promise<void> {
  const enter = ["nsenter", `--mount=${namespacePath}`] as const;
  const { stdout } = await runProcess([...enter, "cat", "/proc/self/mountinfo"]);
  const found = parseMountInfo(stdout).filter(({ source }) => isWanted(source));
  // What is mounted in another one comes after it.
  for (const { mountPoint } of found.reverse()) {
    await runProcess([...enter, "umount", "--lazy", "--no-canonicalize", "--", mountPoint]);
  }
}
