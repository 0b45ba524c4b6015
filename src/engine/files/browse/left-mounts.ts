import { runProcess } from "../../../base/index.ts";

/** Where something is mounted, and what the list of mounts calls its source. */
interface Mounted {
  mountPoint: string;
  source: string;
}

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
  const found = parse(stdout).filter(({ source }) => isWanted(source));
  // What is mounted in another one comes after it.
  for (const { mountPoint } of found.reverse()) {
    await runProcess([...enter, "umount", "--lazy", "--no-canonicalize", "--", mountPoint]);
  }
}

function parse(mountInfo: string): Mounted[] {
  return mountInfo
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [before = "", after = ""] = line.split(" - ");
      return {
        mountPoint: decodePath(before.split(" ")[4] ?? ""),
        source: decodePath(after.split(" ")[1] ?? ""),
      };
    });
}

/** The kernel writes blanks, line breaks and backslashes as octal numbers. */
function decodePath(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_whole, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}
