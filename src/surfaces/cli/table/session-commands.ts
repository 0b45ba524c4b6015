import type { CommandSpec, OptionSpec } from "../command-spec.ts";
import { EXIT_CODE_TIMED_OUT } from "../exit-codes.ts";
import {
  collectBind,
  collectVariable,
  parsePids,
  parsePolicy,
  parsePositive,
  parseSeconds,
  parseSize,
  parseText,
} from "../parse-values.ts";
import { DETACH_KEYS_DEFAULT } from "../terminal/detach-keys.ts";
import { AUTO_OPTION } from "./auto-commands.ts";
import { SESSION } from "./references.ts";

/** What a new session can be given; shared by `new` and `run`. */
const NEW_OPTIONS: readonly OptionSpec[] = [
  {
    flags: "--base <directory>",
    description: "Root filesystem [the host's own root]",
    parse: parseText,
  },
  {
    flags: "--cwd <directory>",
    description: "Directory in which the shell starts",
    parse: parseText,
  },
  {
    flags: "--net <mode>",
    description: "Network: through the host, not at all, or as the host [nat]",
    choices: ["nat", "none", "host"],
  },
  {
    flags: "--bind <source:target[:ro]>",
    description: "Share a directory of the host, not captured; may be repeated",
    parse: collectBind,
  },
  { flags: "--user <user>", description: "User that the shell runs as [root]", parse: parseText },
  { flags: "--shell <shell>", description: "Shell of the base: name or path [bash, else sh]" },
  {
    flags: "--memory <size>",
    description: "Memory it may use at most, such as 512M or 4G",
    parse: parseSize,
  },
  {
    flags: "--cpus <number>",
    description: "Processors' time it may use at most, such as 1.5",
    parse: parsePositive,
  },
  {
    flags: "--disk <size>",
    description: "Share of the store it may take, such as 4G [half of the store]",
    parse: parseSize,
  },
  {
    flags: "--pids <count>",
    description: "Processes and threads at most, or unlimited [the daemon's]",
    parse: parsePids,
  },
  {
    flags: "--standby <policy>",
    description: "Keep ready to restore and fork at once: off, head or a number [the daemon's]",
    parse: parsePolicy,
  },
  AUTO_OPTION,
  {
    flags: "-e, --env <variable>",
    description: "KEY=VALUE for the shell's environment; may be repeated",
    parse: collectVariable,
  },
];

const DETACH_KEYS: OptionSpec = {
  flags: "--detach-keys <keys>",
  description: "Keys that detach, in order",
  default: DETACH_KEYS_DEFAULT,
};

/** Commands about sessions and what runs in them. */
export const SESSION_COMMANDS: readonly CommandSpec[] = [
  {
    name: "new",
    summary: "Start a session",
    arguments: [["[name]", "Name of the session; one is made up if not given"]],
    options: NEW_OPTIONS,
    examples: [
      ["waypoint new web", "A copy of this machine's root, named web"],
      ["waypoint new app --bind .:/src", "This directory at /src: shared, not captured"],
      ["waypoint new web --auto", "Captured after each command that changes something"],
      ["waypoint new probe --net none --cwd /srv/app", "Without any network, in /srv/app"],
    ],
    errors: [
      "NAME_INVALID",
      "BASE_INVALID",
      "BIND_INVALID",
      "NAME_IN_USE",
      "SANDBOX_FAILED",
      "STORE_FULL",
      "HOST_UNSUPPORTED",
    ],
    load: () => import("../commands/new.ts"),
  },
  {
    name: "run",
    summary: "Start a session and run a command in its terminal",
    description:
      "Attached to your terminal; without one, the output is streamed as `waypoint exec` does.",
    arguments: [["<command...>", "Program and arguments, or one line of shell; after --"]],
    options: [
      { flags: "--name <name>", description: "Name of the session; one is made up if not given" },
      ...NEW_OPTIONS,
      DETACH_KEYS,
    ],
    examples: [
      ["waypoint run -- claude", "An agent on a machine of its own"],
      ["waypoint run --name build -- make -j4", "A session that is called build"],
    ],
    passesExitCode: true,
    load: () => import("../commands/run.ts"),
  },
  {
    name: "attach",
    summary: "Connect this terminal to a session",
    description:
      "It survives a restore of the session and the end of the daemon. Ctrl-] then d detaches; " +
      "Ctrl-] twice sends one Ctrl-].",
    arguments: [SESSION],
    options: [DETACH_KEYS],
    examples: [
      ["waypoint attach web", "Work in the session web"],
      ["waypoint attach web --detach-keys ctrl-a,q", "Leave with Ctrl-a, then q"],
    ],
    errors: [
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "SESSION_ENDED",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
    ],
    answers: [
      { exitCode: 0, meaning: "detached, or the session was removed" },
      { exitCode: null, meaning: "that of the shell, where its end is the end of the terminal" },
    ],
    load: () => import("../commands/attach.ts"),
  },
  {
    name: "exec",
    summary: "Run a command in a session",
    description:
      "It runs in the session's live shell, so cd and export persist for the next call, and " +
      "reads nothing: give -i for a pipe or a file on standard input. " +
      "Ctrl-C interrupts the command; a second Ctrl-C leaves it alone, as do SIGTERM and SIGHUP " +
      "where it goes on after them for five seconds.",
    arguments: [SESSION, ["<command...>", "Program and arguments, or one line of shell; after --"]],
    options: [
      {
        flags: "-t, --tty",
        description: "Run it on the session's terminal, where its output stays",
      },
      {
        flags: "--timeout <seconds>",
        description: "Interrupt it after this time, at most 86400",
        parse: parseSeconds,
      },
      {
        flags: "--shell <shell>",
        description: "The live shell, or a process of its own [live; own with -i or --cwd]",
        choices: ["live", "own"],
      },
      {
        flags: "--cwd <directory>",
        description: "Directory to run in (own shell only)",
        parse: parseText,
      },
      { flags: "-i, --stdin", description: "Pass standard input on (own shell only)" },
    ],
    examples: [
      ["waypoint exec web -- npm test", "Exits with the exit code of npm"],
      ["waypoint exec web 'cd /srv && export MODE=dev'", "The next exec is still in /srv"],
      ["waypoint exec web -i -- tar x < files.tar", "Standard input goes to tar"],
    ],
    passesExitCode: true,
    answers: [{ exitCode: EXIT_CODE_TIMED_OUT, meaning: "--timeout has ended the command" }],
    load: () => import("../commands/exec.ts"),
  },
  {
    name: "ls",
    summary: "List the sessions",
    examples: [["waypoint ls --json", "For programs"]],
    load: () => import("../commands/ls.ts"),
  },
  {
    name: "ps",
    summary: "List the processes of a session",
    arguments: [SESSION],
    examples: [["waypoint ps web", "Processes with the ids that they have inside"]],
    errors: [
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
    ],
    load: () => import("../commands/ps.ts"),
  },
  {
    name: "forward",
    summary: "Bring a port of a session to this machine's loopback, or to another session's",
    description:
      "It goes on after a restore and the end of the daemon, until it is stopped or the session " +
      "is removed. Without a port it lists what is forwarded. Sessions cannot reach each other " +
      "unless a port is forwarded from one to the other.",
    arguments: [
      ["[session]", "Session: its name, id or a unique prefix of the id"],
      ["[ports]", "Port of the session, and after a colon the one here [a free one]"],
    ],
    options: [
      { flags: "--to <session>", description: "Bring it to that session's loopback" },
      { flags: "--stop", description: "Stop forwarding the port" },
    ],
    examples: [
      ["waypoint forward web 3000", "On a free port, which it prints"],
      ["waypoint forward web 3000:8080", "On http://127.0.0.1:8080"],
      ["waypoint forward db 5432:5432 --to web", "On 127.0.0.1:5432 inside of web"],
      ["waypoint forward web", "What is forwarded from web and to it"],
      ["waypoint forward web 3000 --stop", "No more"],
    ],
    errors: [
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
      "PORT_IN_USE",
      "FORWARD_REFUSED",
      "FORWARD_NOT_FOUND",
    ],
    load: () => import("../commands/forward.ts"),
  },
  {
    name: "stop",
    summary: "End a session's processes and keep its files and checkpoints",
    description: "Each name is tried; the exit code is that of the first failure.",
    arguments: [["<sessions...>", "Sessions: name, id or a unique prefix of the id"]],
    options: [{ flags: "--no-checkpoint", description: "Do not checkpoint it first" }],
    examples: [["waypoint stop web", "Checkpoint it, then end its processes"]],
    errors: [
      "SESSION_NOT_FOUND",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
      "CRIU_DUMP_FAILED",
    ],
    load: () => import("../commands/stop.ts"),
  },
  {
    name: "rm",
    summary: "Remove sessions with their files and checkpoints, or single checkpoints",
    description:
      "A name is a session, if there is one of that name, else a checkpoint. Checkpoints are removed " +
      "all or none, each session is tried; the exit code is that of the first failure. " +
      "Asks first on a terminal. With a session, checkpoints that forks descend from are kept. " +
      "The children of a checkpoint get its parent; one that a session stands on, or that an undo " +
      "goes back to, is removed with --force only.",
    arguments: [["<names...>", "Sessions, or checkpoints"]],
    options: [
      { flags: "-f, --force", description: "Also what runs, is browsed or is needed" },
      { flags: "--files", description: "Only the files of a session that does not run" },
      { flags: "-y, --yes", description: "Do not ask" },
    ],
    examples: [
      ["waypoint rm probe --yes", "Without asking"],
      ["waypoint rm web@~3 web@~4", "Two checkpoints, to make room"],
      ["waypoint rm --files web", "What web left in its files; its checkpoints stay"],
    ],
    errors: [
      "SESSION_NOT_FOUND",
      "CHECKPOINT_NOT_FOUND",
      "SESSION_WRONG_STATE",
      "CHECKPOINT_IN_USE",
      "CANCELLED",
    ],
    load: () => import("../commands/rm.ts"),
  },
];
