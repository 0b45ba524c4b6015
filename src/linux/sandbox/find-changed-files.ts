import path from "node:path";
import { runProcess } from "../../base/index.ts";

/** As much as is read of what `find` tells; the process is given up on beyond it. */
const OUTPUT_BYTES_MAX = 1_000_000;
const TIMEOUT_MS = 600_000;
const LINE = /^(?<changedAt>\d+\.\d{3})\d* (?<sizeBytes>\d+) (?<path>.+)$/s;

/** A session mounts something else over these. */
const COVERED = ["proc", "sys", "dev", "run"];

/** A file that was changed, in content, name or rights. */
export interface ChangedFile {
  path: string;
  changedAtMs: number;
  sizeBytes: number;
}

/**
 * Finds the files, but no directories, of a root filesystem, and of others that are mounted in it, that
 * were changed after a time. What else is mounted below is not looked at.
 *
 * @param without  directories that are left out, absolute.
 * @returns `isComplete` is false where there are more than fit.
 * @throws TOOL_FAILED | CANCELLED
 */
export async function findChangedFiles(
  [rootDir, ...others]: readonly [string, ...string[]],
  {
    sinceMs,
    without,
    signal,
  }: { sinceMs: number; without: readonly string[]; signal: AbortSignal },
): Promise<{ files: ChangedFile[]; isComplete: boolean }> {
  const covered = COVERED.map((name) => path.join(rootDir, name));
  const pruned = [...covered, ...without].flatMap((directory) => [
    "-o",
    "-path",
    escapeGlob(directory),
  ]);
  const tests = [
    ...["(", "-false", ...pruned, ")", "-prune", "-o"],
    ...["!", "-type", "d", "-newerct", `@${(sinceMs / 1000).toFixed(3)}`],
    ...["-printf", "%C@ %s %p\\0"],
  ];
  // What somebody removes meanwhile is no failure, nor is what may not be read.
  const line = `find "$@" 2>/dev/null | head -c ${OUTPUT_BYTES_MAX}`;
  const { stdout } = await runProcess(
    ["bash", "-c", line, "bash", rootDir, ...others, "-xdev", ...tests],
    { timeoutMs: TIMEOUT_MS, signal },
  );
  const isComplete = Buffer.byteLength(stdout) < OUTPUT_BYTES_MAX;
  const lines = stdout.split("\0");
  // The last one is empty, or cut.
  lines.pop();
  const files = lines.flatMap((text) => {
    const { changedAt, sizeBytes, path } = LINE.exec(text)?.groups ?? {};
    if (path === undefined) return [];
    return [{ path, changedAtMs: Number(changedAt) * 1000, sizeBytes: Number(sizeBytes) }];
  });
  return { files, isComplete };
}

function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*?[\]]/g, "\\$&");
}
