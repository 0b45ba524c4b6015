import { ERROR_REGISTRY } from "../../../shared/errors/index.ts";
import type { CommandSpec, OptionSpec } from "../command-spec.ts";
import { EXIT_CODE_LEFT_CHANGED, type ExitCodeMeaning } from "../exit-codes.ts";
import { collectPath } from "../going-back/parts-options.ts";
import { parseOperation, parseReference } from "../parse-values.ts";
import {
  CHECKPOINT,
  LOSS_OPTIONS,
  SESSION,
  SESSION_OPTIONAL,
  WHILE_TYPING,
  WITHOUT_BINDS,
} from "./references.ts";

const NO_CHECK: OptionSpec = {
  flags: "--no-check",
  description: "Skip checking the result",
};

const WOULD_BE_REFUSED: ExitCodeMeaning = {
  exitCode: ERROR_REGISTRY.FILE_REFUSED.exitCode,
  meaning: "with --dry-run: it would be refused",
};

/** Commands that take something back. */
export const RESTORE_COMMANDS: readonly CommandSpec[] = [
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
      WHILE_TYPING,
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
      "TERMINAL_IN_USE",
      "PART_NOT_CAPTURED",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
      "FILE_NOT_FOUND",
      "FILE_REFUSED",
      "FILE_FAILED",
      "BIND_SOURCE_MISSING",
      "CRIU_DUMP_FAILED",
      "CRIU_RESTORE_FAILED",
      "STORE_FULL",
      "CANCELLED",
    ],
    answers: [WOULD_BE_REFUSED],
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
    options: [NO_CHECK, ...LOSS_OPTIONS, WHILE_TYPING, WITHOUT_BINDS],
    examples: [
      ["waypoint undo web", "web is as it was before the last restore"],
      ["waypoint undo web 12", "Takes operation 12 back"],
    ],
    errors: [
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "NOTHING_TO_UNDO",
      "TERMINAL_IN_USE",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
      "FILE_REFUSED",
      "FILE_FAILED",
      "BIND_SOURCE_MISSING",
      "CRIU_DUMP_FAILED",
      "CRIU_RESTORE_FAILED",
      "STORE_FULL",
      "CANCELLED",
    ],
    load: () => import("../commands/undo.ts"),
  },
  {
    name: "revert",
    summary: "Take back what changed in files between two checkpoints, keep what came later",
    description:
      "Under what runs, file by file. Of a text that was changed again after TO the lines of then go " +
      "back and those changed since stay. All else that was changed again is a conflict: it is listed " +
      "and left, unless --force puts it back to FROM. Checkpoints and asks first, as restore does.",
    arguments: [
      SESSION,
      ["<from>", "Checkpoint that files are put back to", parseReference],
      ["<to>", "Checkpoint that has what is to be taken back", parseReference],
      ["[paths...]", "Only these paths and what is below them"],
    ],
    options: [
      { flags: "--dry-run", description: "Tell what would be taken back, and change nothing" },
      { flags: "-y, --yes", description: "Do not ask" },
      { flags: "-f, --force", description: "Also put back what was changed again since" },
      {
        flags: "--except <path>",
        description: "Not this path and what is below it; may be given several times",
        parse: collectPath,
      },
      NO_CHECK,
      ...LOSS_OPTIONS,
    ],
    examples: [
      ["waypoint revert web green web@", "What changed in files since green"],
      ["waypoint revert web web@~2 web@~1 /etc", "What one step changed below /etc"],
    ],
    errors: [
      "SESSION_NOT_FOUND",
      "CHECKPOINT_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "CHECKPOINT_OF_OTHER_SESSION",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
      "FILE_NOT_FOUND",
      "FILE_REFUSED",
      "FILE_FAILED",
      "CRIU_DUMP_FAILED",
      "STORE_FULL",
      "CANCELLED",
    ],
    answers: [
      {
        exitCode: EXIT_CODE_LEFT_CHANGED,
        meaning: "done, but for what was changed again since: it was left",
      },
      WOULD_BE_REFUSED,
    ],
    load: () => import("../commands/revert.ts"),
  },
  {
    name: "op",
    summary: "Show what was done to sessions and how to take it back",
    examples: [["waypoint op", "As `waypoint op log`"]],
    load: () => import("../commands/op-log.ts"),
    subcommands: [
      {
        name: "log",
        summary: "List what was done to sessions, newest last",
        arguments: [SESSION_OPTIONAL],
        examples: [
          ["waypoint op log", "Of all sessions"],
          ["waypoint op log web", "Of web; the number is what `waypoint undo web` takes"],
        ],
        errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
        load: () => import("../commands/op-log.ts"),
      },
    ],
  },
];
