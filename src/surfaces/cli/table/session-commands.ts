import { NET_MODES } from "../../../shared/protocol/index.ts";
import type { CommandSpec, OptionSpec } from "../command-spec.ts";
import { EXIT_CODE_TIMED_OUT } from "../exit-codes.ts";
import { collectBind, collectVariable, parseBase, parseNet, parsePolicy } from "../parse-values.ts";
import { DETACH_KEYS_DEFAULT } from "../terminal/detach-keys.ts";
import { APPROVE_OPTION } from "./approval-commands.ts";
import { AUTO_OPTION } from "./auto-commands.ts";
import { argument, commandOf, option } from "./from-contract.ts";
import { SESSION } from "./references.ts";

/** What a new session can be given; shared by `new` and `run`. */
const newOptions = (): OptionSpec[] => [
  option("new", "base", { parse: parseBase }),
  option("new", "cwd", { value: "directory" }),
  { ...option("new", "net", { value: "mode", parse: parseNet }), choices: NET_MODES },
  option("new", "binds", {
    ...{ name: "bind", value: "source:target[:ro]", form: "may be repeated" },
    parse: collectBind,
  }),
  option("new", "user"),
  option("new", "shell"),
  option("new", "memoryBytes"),
  option("new", "cpus"),
  option("new", "diskBytes"),
  option("new", "pids"),
  option("new", "standby", { value: "policy", parse: parsePolicy }),
  AUTO_OPTION,
  APPROVE_OPTION,
  option("new", "env", {
    ...{ short: "e", value: "variable", form: "KEY=VALUE; may be repeated" },
    parse: collectVariable,
  }),
];

const DETACH_KEYS: OptionSpec = {
  flags: "--detach-keys <keys>",
  description: `Keys that detach, in order [those of the config, else ${DETACH_KEYS_DEFAULT}]`,
};

const RUN: CommandSpec = {
  name: "run",
  summary: "Start a session and run a command in its terminal",
  operations: ["new"],
  description:
    "Attached to your terminal; without one, the output is streamed as `waypoint exec` does. " +
    "With --from it is a fork, which takes --name and --pids alone. With --rm it is removed with " +
    "all its checkpoints, unless you detach first.",
  arguments: () => [argument("exec", "command", "<command...>", { form: "after --" })],
  options: () => [
    option("new", "name"),
    ...newOptions(),
    {
      flags: "--from <checkpoint>",
      description: "Fork this checkpoint, or where a session stands",
    },
    { flags: "--rm", description: "Remove the session when the command has ended" },
    DETACH_KEYS,
  ],
  examples: [
    ["waypoint run --rm --from web -- npm test", "In a throw-away fork of web"],
    ["waypoint run -- claude", "An agent on a machine of its own"],
    ["waypoint run --name build -- make -j4", "A session that is called build"],
  ],
  passesExitCode: true,
  load: () => import("../commands/run.ts"),
};

/** Commands about sessions and what runs in them. */
export const SESSION_COMMANDS: readonly CommandSpec[] = [
  commandOf("new", {
    arguments: () => [argument("new", "name", "[name]")],
    options: newOptions,
    load: () => import("../commands/new.ts"),
  }),
  RUN,
  commandOf("attach", {
    note: "Ctrl-] then d detaches; Ctrl-] twice sends one Ctrl-].",
    arguments: () => [SESSION],
    options: () => [DETACH_KEYS],
    answers: [
      { exitCode: 0, meaning: "detached, or the session was removed" },
      { exitCode: null, meaning: "that of the shell, where its end is the end of the terminal" },
    ],
    load: () => import("../commands/attach.ts"),
  }),
  commandOf("exec", {
    note:
      "It reads nothing: bytes on standard input are refused, unless -i passes them on. " +
      "Ctrl-C interrupts the command; a second Ctrl-C leaves it alone, as do SIGTERM and SIGHUP " +
      "where it goes on after them for five seconds. " +
      "Keys reach a command that -t puts on a terminal; with -u, -e, --cwd or --shell own that is one " +
      "of its own, which the detach keys hang up.",
    arguments: () => [SESSION, argument("exec", "command", "<command...>", { form: "after --" })],
    options: () => [
      option("exec", "tty", { short: "t" }),
      option("exec", "timeoutMs"),
      option("exec", "approvalTimeoutMs"),
      option("exec", "shell", { otherwise: "live; own with -i, --cwd, --user or --env" }),
      option("exec", "cwd", { value: "directory" }),
      option("exec", "user", { short: "u" }),
      option("exec", "env", {
        ...{ short: "e", value: "variable", form: "KEY=VALUE; may be repeated" },
        parse: collectVariable,
      }),
      option("exec", "stdin", { short: "i" }),
    ],
    passesExitCode: true,
    answers: [{ exitCode: EXIT_CODE_TIMED_OUT, meaning: "--timeout has ended the command" }],
    load: () => import("../commands/exec.ts"),
  }),
  commandOf("ls", { load: () => import("../commands/ls.ts") }),
  {
    name: "status",
    summary: "Say where you are: in which session, or how one stands and what changed since",
    description:
      "Of the session that is named, or the only one: its state, the checkpoint that it stands on and " +
      "what changed since. Of several: which there are.",
    arguments: () => [argument("ps", "session", "[session]")],
    examples: [
      ["waypoint status", "Also inside a session"],
      ["waypoint status web", "How web stands"],
    ],
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS", "STORE_FULL"],
    load: () => import("../commands/status.ts"),
  },
  commandOf("rename", {
    arguments: () => [SESSION, argument("rename", "name", "<name>")],
    load: () => import("../commands/rename.ts"),
  }),
  commandOf("ps", { arguments: () => [SESSION], load: () => import("../commands/ps.ts") }),
];

/** The command that takes a stop back. */
export const START_COMMAND: CommandSpec = commandOf("start", {
  arguments: () => [SESSION],
  options: () => [option("start", "fresh"), option("start", "withoutBinds")],
  load: () => import("../commands/start.ts"),
});

/** The command that ends processes. */
export const STOP_COMMAND: CommandSpec = commandOf("stop", {
  note: "Each name is tried; the exit code is that of the first failure.",
  arguments: () => [{ name: "<sessions...>", description: SESSION.description }],
  options: () => [option("stop", "checkpoint")],
  load: () => import("../commands/stop.ts"),
});
