import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

/** Logs of failed runs that are kept; the oldest go first. */
const LOGS_KEPT_MAX = 20;

/**
 * Keeps the log of a failed run where its user can read it, and returns the path.
 *
 * The work directory lies in the daemon's own mount namespace and goes with the instance. Never
 * fails: a log that cannot be kept must not hide why the run failed.
 */
export async function keepLog(options: {
  log: string;
  workDir: string;
  logName: string;
  /** Left out: the log stays where CRIU wrote it. */
  failedLogsDir?: string | undefined;
}): Promise<string> {
  const { log, workDir, logName, failedLogsDir } = options;
  const originalPath = join(workDir, logName);
  if (failedLogsDir === undefined) return originalPath;
  const keptPath = join(failedLogsDir, `${basename(workDir)}-${logName}`);
  try {
    await mkdir(failedLogsDir, { recursive: true, mode: 0o700 });
    await writeFile(keptPath, log, { mode: 0o600 });
    await removeOldest(failedLogsDir);
    return keptPath;
  } catch {
    return originalPath;
  }
}

async function removeOldest(directory: string): Promise<void> {
  const names = await readdir(directory);
  if (names.length <= LOGS_KEPT_MAX) return;
  const files = await Promise.all(
    names.map(async (name) => ({ name, atMs: (await stat(join(directory, name))).mtimeMs })),
  );
  const oldest = files.toSorted((a, b) => a.atMs - b.atMs).slice(0, -LOGS_KEPT_MAX);
  await Promise.all(oldest.map(({ name }) => rm(join(directory, name), { force: true })));
}
