/** Exit codes from here on say that the command could not be run, or that a signal ended it. */
const NO_VERDICT_MIN = 126;

/** The shell's exit codes for a command that is not executable, or not there. */
const NOT_RUN: readonly number[] = [126, 127];

/** Tells whether the command could not be run at all. */
export function couldNotRun(verification: { exitCode: number; timedOut: boolean }): boolean {
  return !verification.timedOut && NOT_RUN.includes(verification.exitCode);
}

/**
 * What a command said of a checkpoint; `null` where it came to no verdict: it took too long, was not
 * found or not executable (127, 126), or a signal ended it (128 and more).
 */
export function verdictOf(verification: {
  exitCode: number;
  timedOut: boolean;
}): "passing" | "failing" | null {
  const { exitCode, timedOut } = verification;
  if (timedOut || exitCode >= NO_VERDICT_MIN) return null;
  return exitCode === 0 ? "passing" : "failing";
}
