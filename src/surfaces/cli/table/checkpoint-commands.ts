import type { CommandSpec } from "../command-spec.ts";
import { EXIT_CODE_NOT_PASSED, EXIT_CODE_NOT_VERIFIED } from "../exit-codes.ts";
import { parseCount, parseIntent, parsePids, parsePolicy } from "../parse-values.ts";
import { AUTO_COMMAND } from "./auto-commands.ts";
import { BISECT_COMMAND } from "./bisect-commands.ts";
import { CHECKPOINT, SESSION, WITHOUT_BINDS } from "./references.ts";
import { RESTORE_COMMANDS } from "./restore-commands.ts";
import { REWIND_COMMAND } from "./rewind-commands.ts";
import { STORY_COMMANDS } from "./story-commands.ts";
import { VERIFY_COMMAND, VERIFY_OPTIONS } from "./verify-commands.ts";

/** Commands about checkpoints: making them, reading what they tell, going back to them. */
export const HISTORY_COMMANDS: readonly CommandSpec[] = [
  {
    name: "checkpoint",
    summary: "Capture a session",
    description:
      "Captures processes, memory, terminals and files; what runs goes on, and docs/limits.md says what can be noticed of it.",
    arguments: [SESSION],
    options: [
      {
        flags: "-m, --intent <text>",
        description: "What this moment is, in your words",
        parse: parseIntent,
      },
      {
        flags: "--agent-said <text>",
        description: "The last message or tool call of the agent that works there",
        parse: parseIntent,
      },
      { flags: "--name <name>", description: "Name to find it by" },
      { flags: "--files-only", description: "Capture the files alone" },
      {
        flags: "--durable",
        description: "Answer only when it is in the store, which on a disk survives power loss",
      },
      ...VERIFY_OPTIONS,
    ],
    examples: [
      ['waypoint checkpoint web -m "before the upgrade"', "A moment to come back to"],
      ["waypoint checkpoint web --name green --durable", "Named, and safe on disk"],
      ['waypoint checkpoint web --verify "npm test"', "With the verdict of its tests"],
    ],
    errors: ["SESSION_NOT_FOUND", "NAME_IN_USE", "FORK_REFUSED", "CRIU_DUMP_FAILED", "STORE_FULL"],
    answers: [
      {
        exitCode: EXIT_CODE_NOT_PASSED,
        meaning: "the command of --verify failed or took too long",
      },
      { exitCode: EXIT_CODE_NOT_VERIFIED, meaning: "the command of --verify could not be run" },
    ],
    load: () => import("../commands/checkpoint.ts"),
  },
  VERIFY_COMMAND,
  BISECT_COMMAND,
  ...STORY_COMMANDS,
  ...RESTORE_COMMANDS,
  REWIND_COMMAND,
  {
    name: "fork",
    summary: "Start new sessions from a checkpoint",
    description: "The session that was captured is not touched.",
    arguments: [CHECKPOINT],
    options: [
      { flags: "-n, --count <count>", description: "How many, at most 256 [1]", parse: parseCount },
      { flags: "--name <name>", description: "Name of the fork; with a count, NAME-1, NAME-2, …" },
      {
        flags: "--pids <count>",
        description: "Processes and threads at most, or unlimited [its origin's]",
        parse: parsePids,
      },
      WITHOUT_BINDS,
    ],
    examples: [
      ["waypoint fork web@ --name try", "One new session, try"],
      ["waypoint fork green -n 8 --name try", "Eight: try-1 to try-8"],
    ],
    errors: [
      "CHECKPOINT_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "NAME_IN_USE",
      "FORK_REFUSED",
      "BIND_SOURCE_MISSING",
      "CRIU_RESTORE_FAILED",
    ],
    load: () => import("../commands/fork.ts"),
  },
  {
    name: "standby",
    summary: "Show or choose what is kept ready to restore and fork a session at once",
    description:
      "A standby is a fork made in advance that stands still. `head` keeps one of the checkpoint " +
      "that the session stands on and one of what an undo goes back to, a number so many of its " +
      "newest checkpoints, `off` none. All together stay within a budget of memory.",
    arguments: [
      SESSION,
      ["[policy]", "off, head, or a number of checkpoints from 1 to 16", parsePolicy],
    ],
    examples: [
      ["waypoint standby web", "What is ready"],
      ["waypoint standby web 3", "Keep its three newest checkpoints ready"],
      ["waypoint standby web off", "Keep nothing ready"],
    ],
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    load: () => import("../commands/standby.ts"),
  },
  AUTO_COMMAND,
];
