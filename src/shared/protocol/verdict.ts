/** Exit codes from here on say that the command could not be run, or that a signal ended it. */
const NO_VERDICT_MIN = 126;

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
