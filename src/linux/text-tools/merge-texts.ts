import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { runProcess } from "../../base/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import { gitEnvironment } from "./environment.ts";

const TIMEOUT_MS = 30_000;
/** git merge-file's exit code is the number of conflicts, up to this; above it failed. */
const CONFLICTS_EXIT_MAX = 127;

/** Three texts; an empty base where both sides are new. */
export interface ThreeTexts {
  base: Buffer;
  ours: Buffer;
  theirs: Buffer;
  /** What the sides are called in conflict markers. */
  labels: { ours: string; base: string; theirs: string };
}

/** What came out: the merged text, with conflict markers where both changed the same lines. */
export interface MergedText {
  text: Buffer;
  hasConflicts: boolean;
}

/**
 * Merges two texts with a common base, as `git merge-file` does; where the machine has no git,
 * diff3(1) does it. Neither reads anybody's configuration.
 *
 * @param scratchDir  where files may be made for it.
 * @throws TOOL_FAILED  neither of them works.
 */
export async function mergeTexts(texts: ThreeTexts, scratchDir: string): Promise<MergedText> {
  const directory = await mkdtemp(path.join(scratchDir, "merge-"));
  try {
    for (const side of ["ours", "base", "theirs"] as const) {
      await writeFile(path.join(directory, side), texts[side]);
    }
    return await mergeWithGit(directory, texts.labels);
  } catch (error) {
    const isMissing = hasCode(error, "TOOL_FAILED") && /ENOENT/.test(error.message);
    if (!isMissing) throw error;
    return await mergeWithDiff3(directory, texts.labels);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function mergeWithGit(
  directory: string,
  { ours, base, theirs }: ThreeTexts["labels"],
): Promise<MergedText> {
  const labels = [ours, base, theirs].flatMap((label) => ["-L", label]);
  const { exitCode } = await runProcess(
    ["git", "merge-file", "--quiet", ...labels, "ours", "base", "theirs"],
    {
      ...{ cwd: directory, env: gitEnvironment(), timeoutMs: TIMEOUT_MS },
      okExitCodes: Array.from({ length: CONFLICTS_EXIT_MAX + 1 }, (_, code) => code),
    },
  );
  return { text: await readFile(path.join(directory, "ours")), hasConflicts: exitCode > 0 };
}

/** Its output goes to a file: what a process prints is kept as text, and bounded. */
async function mergeWithDiff3(
  directory: string,
  { ours, base, theirs }: ThreeTexts["labels"],
): Promise<MergedText> {
  const labels = [ours, base, theirs].flatMap((label) => ["-L", label]);
  const outPath = path.join(directory, "merged");
  await using out = await open(outPath, "w");
  const line = 'exec diff3 -m -E "$@" >&3';
  const { exitCode } = await runProcess(
    ["sh", "-c", line, "diff3", ...labels, "ours", "base", "theirs"],
    {
      ...{ cwd: directory, env: gitEnvironment(), timeoutMs: TIMEOUT_MS },
      ...{ descriptors: [out.fd], okExitCodes: [0, 1, 127] },
    },
  );
  if (exitCode === 127) {
    throw new WaypointError(
      "TOOL_FAILED",
      "Texts cannot be merged: neither git nor diff3 is here.",
      {
        hint: "Install git or diffutils.",
      },
    );
  }
  return { text: await readFile(outPath), hasConflicts: exitCode === 1 };
}
