import type { CriuRun } from "./criu-program.ts";
import type { FailureExplanation } from "./explain-failure.ts";

/** Explains a run that failed: also one that did not come to its own end. */
export function explainRun(run: CriuRun, why: FailureExplanation): FailureExplanation {
  if (run.timedOut) return explainTimeout(run, why);
  return run.exitCode === null ? explainEnd(why) : why;
}

/** A run that was ended at its deadline. */
function explainTimeout(run: CriuRun, { code }: FailureExplanation): FailureExplanation {
  const isDump = code === "CRIU_DUMP_FAILED";
  return {
    code: "DEADLINE_EXCEEDED",
    reason: "timeout",
    message: `CRIU did not end within ${Math.round(run.durationMs)} ms and was ended.`,
    hint: isDump
      ? "The processes it worked on may be damaged; restore the last checkpoint if they hang."
      : "Nothing of the restored processes is left. Try again; restore another checkpoint if it lasts.",
    transient: false,
    pid: null,
    processName: null,
    resource: null,
  };
}

/** A run that a signal ended; what its log tells goes first. */
function explainEnd(why: FailureExplanation): FailureExplanation {
  if (why.reason !== "unknown") return why;
  const isDump = why.code === "CRIU_DUMP_FAILED";
  return {
    ...why,
    reason: "ended",
    message: "CRIU was ended by a signal before it was done.",
    hint: `The kernel ends programs where memory is short; its log (\`dmesg\`) tells. ${
      isDump
        ? "Restore the last checkpoint if the session hangs."
        : "Nothing of the restored processes is left; the checkpoint is as it was."
    }`,
  };
}
