import type { CheckpointRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { FullVerification } from "../../shared/protocol/index.ts";
import type { Verdict } from "./search.ts";

/** As git has it: this checkpoint cannot be tested. */
const EXIT_CODE_SKIP = 125;
/** As git has it: from here on the command did not come to a verdict, such as after a signal. */
const EXIT_CODE_ABORT_MIN = 128;
/** As every shell has it. */
const EXIT_CODE_NOT_FOUND = 127;
const EXIT_CODE_NOT_EXECUTABLE = 126;

/** What a command says of a checkpoint. @throws BISECT_STOPPED  neither good nor bad. */
export function judge(
  { id }: Pick<CheckpointRow, "id">,
  { exitCode, timedOut }: Pick<FullVerification, "exitCode" | "timedOut">,
  timeoutMeans: "bad" | "skip",
): Verdict {
  if (timedOut) return timeoutMeans;
  if (exitCode === 0) return "good";
  if (exitCode === EXIT_CODE_SKIP) return "skip";
  if (exitCode < EXIT_CODE_ABORT_MIN) return "bad";
  throw new WaypointError(
    "BISECT_STOPPED",
    `The command ended with exit code ${exitCode} at checkpoint ${id}, which says neither good nor bad.`,
    {
      hint: "A signal ended it. With `|| exit 1` after the command that is bad, with `|| exit 125` skipped.",
      detail: { checkpoint: id, exitCode },
    },
  );
}

/** Checks what the command says of the two ends. @throws BISECT_GOOD_FAILS | BISECT_BAD_PASSES | BISECT_STOPPED */
export function requireExpected(
  checkpoint: Pick<CheckpointRow, "id">,
  { expected, verdict }: { expected: "good" | "bad"; verdict: Verdict },
  verification: FullVerification,
): void {
  if (verdict === expected) return;
  const { id } = checkpoint;
  const { exitCode, output } = verification;
  const detail = { checkpoint: id, exitCode, output };
  if (verdict === "skip") {
    throw new WaypointError(
      "BISECT_STOPPED",
      `Checkpoint ${id}, the ${expected} one, cannot be tested: the command skipped it.`,
      { hint: "Choose another one, or give --trust to take both ends as you say.", detail },
    );
  }
  if (expected === "bad") {
    throw new WaypointError(
      "BISECT_BAD_PASSES",
      `The command passes at checkpoint ${id}, which was called bad.`,
      { hint: `Look at it: \`waypoint show ${id}\`. Is it the checkpoint you mean?`, detail },
    );
  }
  throw goodFails(id, verification, detail);
}

function goodFails(
  id: string,
  { exitCode, timedOut }: FullVerification,
  detail: { checkpoint: string; exitCode: number; output: string },
): WaypointError {
  const ended = timedOut ? "takes too long" : `ends with exit code ${exitCode}`;
  if (!timedOut && exitCode === EXIT_CODE_NOT_FOUND) {
    return new WaypointError(
      "BISECT_GOOD_FAILS",
      `The command is missing at checkpoint ${id}, which was called good: a program was not found.`,
      { hint: `\`waypoint verify ${id} -- COMMAND\` shows what the shell says.`, detail },
    );
  }
  if (!timedOut && exitCode === EXIT_CODE_NOT_EXECUTABLE) {
    return new WaypointError(
      "BISECT_GOOD_FAILS",
      `The command cannot be run at checkpoint ${id}, which was called good (exit code 126).`,
      { hint: "Is its file executable there?", detail },
    );
  }
  return new WaypointError(
    "BISECT_GOOD_FAILS",
    `The command ${ended} at checkpoint ${id}, which was called good.`,
    { hint: `Look at what it printed: \`waypoint verify ${id} -- COMMAND\`.`, detail },
  );
}
