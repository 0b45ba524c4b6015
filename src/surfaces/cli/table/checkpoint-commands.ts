import type { CommandSpec } from "../command-spec.ts";
import { EXIT_CODE_NOT_PASSED, EXIT_CODE_NOT_VERIFIED } from "../exit-codes.ts";
import { collectState } from "../parse-state.ts";
import { collect, parsePolicy, parseText } from "../parse-values.ts";
import { argument, commandOf, option } from "./from-contract.ts";
import { CHECKPOINT, SESSION } from "./references.ts";

/** What `--verify` alone stands for; nobody can type it. */
const OWN_COMMAND = "\0";

/** The command that makes a checkpoint. */
export const CHECKPOINT_COMMAND: CommandSpec = commandOf("checkpoint", {
  arguments: () => [SESSION],
  options: () => [
    option("checkpoint", "intent", { short: "m", value: "text" }),
    option("checkpoint", "agentSaid", { value: "text" }),
    option("checkpoint", "state", {
      ...{ value: "key=value", form: "as JSON or @FILE; may be repeated" },
      parse: collectState,
    }),
    option("checkpoint", "name"),
    option("checkpoint", "filesOnly"),
    option("checkpoint", "ifChanged"),
    option("checkpoint", "durable"),
    option("checkpoint", "verify", {
      ...{ value: "command?", form: "a line of shell", preset: OWN_COMMAND },
      parse: (text) => text === OWN_COMMAND || [parseText(text, { minLength: 1 })],
    }),
    option("checkpoint", "verifyTimeoutMs"),
    option("checkpoint", "verifyWait", { name: "wait" }),
  ],
  answers: [
    { exitCode: EXIT_CODE_NOT_PASSED, meaning: "the command of --verify failed or took too long" },
    {
      exitCode: EXIT_CODE_NOT_VERIFIED,
      meaning: "the command of --verify could not be run, or was not found (126, 127)",
    },
  ],
  load: () => import("../commands/checkpoint.ts"),
});

/** Commands that say afterwards what a checkpoint is. */
export const WORDS_COMMANDS: readonly CommandSpec[] = [
  commandOf("name", {
    arguments: () => [CHECKPOINT, argument("name", "name", "[name]")],
    load: () => import("../commands/name.ts"),
  }),
  commandOf("describe", {
    arguments: () => [CHECKPOINT, argument("describe", "intent", "<text>")],
    load: () => import("../commands/describe.ts"),
  }),
  commandOf("tag", {
    arguments: () => [CHECKPOINT, argument("tag", "add", "[tag...]")],
    options: () => [
      option("tag", "remove", { value: "tag", form: "may be repeated", parse: collect }),
    ],
    load: () => import("../commands/tag.ts"),
  }),
];

/** Commands that make sessions from checkpoints. */
export const FORK_COMMANDS: readonly CommandSpec[] = [
  commandOf("fork", {
    arguments: () => [CHECKPOINT],
    options: () => [
      option("fork", "count", { short: "n" }),
      option("fork", "name"),
      option("fork", "pids"),
      option("fork", "withoutBinds"),
      option("fork", "throwaway"),
      option("fork", "effects", { value: "which" }),
    ],
    load: () => import("../commands/fork.ts"),
  }),
  commandOf("keep", {
    arguments: () => [SESSION],
    load: () => import("../commands/keep.ts"),
  }),
  commandOf("standby", {
    arguments: () => [SESSION, argument("standby", "policy", "[policy]", { parse: parsePolicy })],
    load: () => import("../commands/standby.ts"),
  }),
];
