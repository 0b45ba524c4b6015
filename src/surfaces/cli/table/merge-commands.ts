import type { CommandSpec } from "../command-spec.ts";
import { EXIT_CODE_CONFLICTS } from "../exit-codes.ts";
import { CHECKPOINT, SESSION } from "./references.ts";

const REFERENCE_ERRORS = [
  "CHECKPOINT_NOT_FOUND",
  "SESSION_NOT_FOUND",
  "REFERENCE_AMBIGUOUS",
] as const;

/** Commands that take work over: out of the sandbox, and from branch to branch. */
export const MERGE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "apply",
    summary: "Bring the work of a checkpoint into the real files of this machine",
    description:
      "Three-way, against what the session saw when it began to change a path: what somebody has " +
      "changed here since is never overwritten unasked. With any conflict nothing is written. " +
      "Each file is the old one or the new one at every moment, whatever happens.",
    arguments: [
      ["[checkpoint]", CHECKPOINT[1], CHECKPOINT[2] as (text: string) => string],
      ["[paths...]", "Only these paths of the session and what is below them; absolute"],
    ],
    options: [
      { flags: "--to <dir>", description: "Write what is in the one PATH into this directory" },
      { flags: "-n, --dry-run", description: "Only print what would be done, and all conflicts" },
      { flags: "--patch", description: "Only print it, as a patch for git apply" },
      { flags: "--force", description: "Take the checkpoint's version where both have changed" },
      { flags: "--undo [operation]", description: "Take an apply back: the last, or by number" },
      { flags: "--continue", description: "Complete an apply or merge that was interrupted" },
      { flags: "--abort", description: "Put back what an interrupted one had done" },
    ],
    examples: [
      ["waypoint apply web@ /srv/app --dry-run", "What would be written, and what is in conflict"],
      ["waypoint apply web@ /srv/app", "The work of web, to the same place on this machine"],
      ["waypoint apply green /srv/app --to ~/app", "Into a directory of yours"],
      ["waypoint apply web@ /srv/app --patch | git apply -p1 --directory=...", "As a patch"],
      ["waypoint apply --undo", "Take it back"],
    ],
    errors: [
      ...REFERENCE_ERRORS,
      "APPLY_CONFLICT",
      "APPLY_UNFINISHED",
      "APPLY_NOT_FOUND",
      "FILE_NOT_FOUND",
      "FILE_FAILED",
      "STORE_FULL",
      "TOOL_FAILED",
      "CHECKPOINT_INCOMPLETE",
    ],
    answers: [{ exitCode: EXIT_CODE_CONFLICTS, meaning: "with --dry-run: there are conflicts" }],
    load: () => import("../commands/apply.ts"),
  },
  {
    name: "merge",
    summary: "Take the file changes of another branch into a live session",
    description:
      "Three-way, from the nearest checkpoint that both come from. The session is checkpointed " +
      "first and runs on. Conflicts end as git's merge leaves them: markers in texts, of other " +
      "files the session's own version stays. Memory and processes are not merged.",
    arguments: [SESSION, CHECKPOINT],
    options: [{ flags: "-n, --dry-run", description: "Only print what would be done" }],
    examples: [
      ["waypoint merge web try-2@", "What the fork try-2 has made, into web"],
      ["waypoint merge web green --dry-run", "What would be written, and what is in conflict"],
    ],
    errors: [
      ...REFERENCE_ERRORS,
      "LINEAGE_UNRELATED",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
      "APPLY_CONFLICT",
      "APPLY_UNFINISHED",
      "CRIU_DUMP_FAILED",
      "FILE_FAILED",
      "STORE_FULL",
      "CHECKPOINT_INCOMPLETE",
    ],
    answers: [{ exitCode: EXIT_CODE_CONFLICTS, meaning: "there are conflicts" }],
    load: () => import("../commands/merge.ts"),
  },
];
