import { closeSync, openSync, readSync } from "node:fs";
import { toBytes, toText } from "../../../base/index.ts";
import type { FileChange } from "../../../shared/protocol/index.ts";
import type { RawChange, TreeEntry } from "../../moment/index.ts";
import type { TextTools } from "../../ports/index.ts";

/** A larger file is not compared line by line. */
const TEXT_BYTES_MAX = 2 * 1024 * 1024;
/** How much of a file is looked at to tell text from other content, as git does it. */
const PROBE_BYTES = 8000;
/** A longer difference is cut; the whole of it is for a program on the files themselves. */
const PATCH_CHARACTERS_MAX = 256 * 1024;

/** The lines that differ, or why there are none. */
export type TextDifference = Pick<FileChange, "patch" | "noPatch">;

/**
 * Returns how the text of a file differs, as a unified diff of whole lines.
 *
 * @throws TOOL_FAILED  this machine has no diff(1).
 */
export async function diffTexts(
  { path, from, before, after }: RawChange,
  textTools: Pick<TextTools, "diffFiles">,
  signal: AbortSignal,
): Promise<TextDifference> {
  if ([before, after].every((entry) => entry?.type !== "file")) return {};
  const fds = [openText(before), openText(after)];
  try {
    const [oneFd, otherFd] = fds;
    if (oneFd === undefined || otherFd === undefined) return { noPatch: "too-large" };
    if (isBinary(oneFd) || isBinary(otherFd)) return { noPatch: "binary" };
    const labels = [
      before === null ? "/dev/null" : label("a", from ?? path),
      after === null ? "/dev/null" : label("b", path),
    ] as const;
    const patch = await textTools.diffFiles([oneFd, otherFd], labels, signal);
    const isLong = patch.length > PATCH_CHARACTERS_MAX;
    return { patch: isLong ? `${patch.slice(0, PATCH_CHARACTERS_MAX)}\n… (cut)\n` : patch };
  } finally {
    for (const fd of fds) if (fd !== undefined) closeSync(fd);
  }
}

/** A line feed in a name would end the line of the diff that has it. */
function label(side: string, path: string): string {
  return `${side}${toText(path)}`.replaceAll(/[\n\t]/g, "?");
}

/** Opens a file to compare, or nothing in place of what is none; `undefined` if it is too large. */
function openText(entry: TreeEntry | null): number | undefined {
  if (entry?.type !== "file") return openSync("/dev/null", "r");
  return entry.sizeBytes > TEXT_BYTES_MAX ? undefined : openSync(toBytes(entry.hostPath), "r");
}

function isBinary(fd: number): boolean {
  const probe = Buffer.alloc(PROBE_BYTES);
  const sizeBytes = readSync(fd, probe, 0, PROBE_BYTES, 0);
  return probe.subarray(0, sizeBytes).includes(0);
}
