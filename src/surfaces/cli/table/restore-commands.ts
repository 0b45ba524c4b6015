import { ERROR_REGISTRY } from "../../../shared/errors/index.ts";
import { BASE_CHANGES } from "../base-changes-option.ts";
import type { CommandSpec, OptionSpec } from "../command-spec.ts";
import { EXIT_CODE_LEFT_CHANGED, type ExitCodeMeaning } from "../exit-codes.ts";
import { collect } from "../parse-values.ts";
import { argument, asking, commandOf, option } from "./from-contract.ts";
import { CHECKPOINT, LOSS_OPTIONS, NO_CHECK, SESSION, YES } from "./references.ts";

const WOULD_BE_REFUSED: ExitCodeMeaning = {
  exitCode: ERROR_REGISTRY.FILE_REFUSED.exitCode,
  meaning: "with --dry-run: it would be refused",
};

const SOME_PATHS = { value: "path", form: "may be repeated", parse: collect } as const;
const EXCEPT: OptionSpec = option("restore", "except", SOME_PATHS);

const OP_LOG = {
  arguments: () => [argument("op.log", "session", "[session]")],
  load: () => import("../commands/op-log.ts"),
};

/** Commands that take something back. */
export const RESTORE_COMMANDS: readonly CommandSpec[] = [
  commandOf("restore", {
    also: ["restore.plan"],
    note:
      "On a terminal it shows what would be undone and asks; otherwise it does not ask. " +
      "--except, too, puts back files alone.",
    arguments: () => [SESSION, { ...CHECKPOINT, name: "[checkpoint]" }],
    options: () => [
      {
        flags: "--last-good",
        description: "To the newest checkpoint that passed its verification",
      },
      asking("restore.plan", "--dry-run"),
      BASE_CHANGES,
      {
        flags: "--compensate",
        description: "First take back what was done outside since then, the newest first",
      },
      option("restore.plan", "expand"),
      YES,
      option("restore", "only", { value: "part" }),
      option("restore", "account", { value: "key?", preset: "conversation" }),
      option("restore", "accountRole", { value: "role" }),
      option("restore", "paths", { name: "path", ...SOME_PATHS }),
      EXCEPT,
      NO_CHECK,
      ...LOSS_OPTIONS,
      option("restore", "whileTyping"),
      option("restore", "withoutBinds"),
    ],
    answers: [WOULD_BE_REFUSED],
    load: () => import("../commands/restore.ts"),
  }),
  commandOf("undo", {
    arguments: () => [SESSION, argument("undo", "operation", "[operation]")],
    options: () => [
      NO_CHECK,
      ...LOSS_OPTIONS,
      option("undo", "whileTyping"),
      option("undo", "withoutBinds"),
    ],
    load: () => import("../commands/undo.ts"),
  }),
  commandOf("revert", {
    also: ["revert.plan"],
    note: "Checkpoints and asks first, as restore does.",
    arguments: () => [
      SESSION,
      argument("revert", "from", "<from>"),
      argument("revert", "to", "<to>"),
      argument("revert", "paths", "[paths...]"),
    ],
    options: () => [
      asking("revert.plan", "--dry-run"),
      YES,
      option("revert", "force", { short: "f" }),
      EXCEPT,
      NO_CHECK,
      ...LOSS_OPTIONS,
    ],
    answers: [
      {
        exitCode: EXIT_CODE_LEFT_CHANGED,
        meaning: "done, but for what was changed again since: it was left",
      },
      WOULD_BE_REFUSED,
    ],
    load: () => import("../commands/revert.ts"),
  }),
  {
    name: "op",
    summary: "Show what was done to sessions and how to take it back",
    examples: [["waypoint op", "As `waypoint op log`"]],
    load: OP_LOG.load,
    subcommands: [commandOf("op.log", { name: "log", ...OP_LOG })],
  },
];
