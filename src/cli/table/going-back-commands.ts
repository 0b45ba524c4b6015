import type { CommandSpec, OptionSpec } from "../command-spec.ts";
import { collectPath } from "../going-back/parts-options.ts";
import { parseOperation } from "../parse-values.ts";
import { CHECKPOINT, LOSS_OPTIONS, SESSION, WITHOUT_BINDS } from "./references.ts";

const NO_CHECK: OptionSpec = {
  flags: "--no-check",
  description: "Do not compare the outcome with what was to be there",
};

/** Commands that take something back. */
export const GOING_BACK_COMMANDS: readonly CommandSpec[] = [
  {
    name: "restore",
    summary: "Put a session back to a checkpoint, all of it or parts",
    description:
      "What is there now is checkpointed first, so `waypoint undo` takes it back. On a terminal it " +
      "shows what would be undone and asks; otherwise it does not ask. A restore that fails leaves " +
      "the session as it was. --path and --except put back files alone, under what runs.",
    arguments: [SESSION, CHECKPOINT],
    options: [
      { flags: "--dry-run", description: "Tell what would be undone, and change nothing" },
      { flags: "--expand", description: "List what groups such as node_modules stand for" },
      { flags: "-y, --yes", description: "Do not ask" },
      {
        flags: "--only <part>",
        description: "files: under what runs now; processes: on the files as they are now",
        choices: ["files", "processes"],
      },
      {
        flags: "--path <path>",
        description: "Only this path and what is below it; may be given several times",
        parse: collectPath,
      },
      {
        flags: "--except <path>",
        description: "All files but this path and what is below it; may be given several times",
        parse: collectPath,
      },
      NO_CHECK,
      ...LOSS_OPTIONS,
      WITHOUT_BINDS,
    ],
    examples: [
      ["waypoint restore web web@", "Back to its newest checkpoint, or the one it stands on"],
      ["waypoint restore web green --dry-run", "What that would undo"],
      ["waypoint restore web green --yes", "Back to the one named green, without asking"],
      ["waypoint restore web green --path /srv/app", "A directory as it was; programs run on"],
      ["waypoint restore web green --except /srv/data", "All files but these"],
    ],
    errors: [
      "SESSION_NOT_FOUND",
      "CHECKPOINT_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "CHECKPOINT_OF_OTHER_SESSION",
      "PART_NOT_CAPTURED",
      "SESSION_WRONG_STATE",
      "FILE_NOT_FOUND",
      "FILE_REFUSED",
      "FILE_FAILED",
      "BIND_SOURCE_MISSING",
      "CRIU_DUMP_FAILED",
      "CRIU_RESTORE_FAILED",
      "STORE_FULL",
      "CANCELLED",
    ],
    load: () => import("../commands/restore.ts"),
  },
  {
    name: "undo",
    summary: "Take a restore or another operation back",
    description:
      "The last one, or the one with a number of `waypoint op log`. What is there now is " +
      "checkpointed first: an undo can be undone.",
    arguments: [
      SESSION,
      ["[operation]", "Number of an operation in `waypoint op log`", parseOperation],
    ],
    options: [NO_CHECK, ...LOSS_OPTIONS, WITHOUT_BINDS],
    examples: [
      ["waypoint undo web", "web is as it was before the last restore"],
      ["waypoint undo web 12", "Takes operation 12 back"],
    ],
    errors: [
      "SESSION_NOT_FOUND",
      "NOTHING_TO_UNDO",
      "SESSION_WRONG_STATE",
      "FILE_REFUSED",
      "FILE_FAILED",
      "BIND_SOURCE_MISSING",
      "CRIU_DUMP_FAILED",
      "CRIU_RESTORE_FAILED",
    ],
    load: () => import("../commands/undo.ts"),
  },
];
