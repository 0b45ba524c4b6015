import type { CommandSpec } from "../command-spec.ts";
import { EXIT_CODE_DIFFERENT } from "../exit-codes.ts";
import {
  CHANGES_SECTIONS,
  parseChangesSections,
  parseShowSections,
  SHOW_SECTIONS,
} from "../parse-sections.ts";
import { parseSince, parseUntil } from "../parse-time.ts";
import { parseFilter, parseLimit, parseReference } from "../parse-values.ts";
import { CHECKPOINT, SESSION_OPTIONAL } from "./references.ts";

/** Commands that read what checkpoints tell. */
export const STORY_COMMANDS: readonly CommandSpec[] = [
  {
    name: "log",
    summary: "Show the timeline, newest last",
    description:
      "One line for each checkpoint: what was meant, as said with -m, else the agent's message, the " +
      "command that made the change ($) with (exit N) where it failed, or a commit; then services, " +
      "files and packages by name, counts last. In a pipe a line has COLUMNS or 160 columns; --json " +
      "has all. With several filters, checkpoints that fit all are shown; what is left out is said. " +
      "That nothing fits is no failure.",
    arguments: [SESSION_OPTIONAL],
    options: [
      {
        flags: "--path <path>",
        description: "That touched this path, or one below; * fits any characters, slashes too",
        parse: parseFilter,
      },
      {
        flags: "--package <name>",
        description: "That touched a package of this name; * fits any characters",
        parse: parseFilter,
      },
      {
        flags: "--grep <text>",
        description: "With this text in the intent, a command, its output or the verification",
        parse: parseFilter,
      },
      {
        flags: "--verified <result>",
        description: "By how the verification ended; never: there is none",
        choices: ["passing", "failing", "never"],
      },
      { flags: "--auto", description: "Only automatic checkpoints" },
      { flags: "--no-auto", description: "Without the automatic checkpoints" },
      {
        flags: "--since <time>",
        description:
          "Taken then or later: 2h (ago), yesterday, 09:58, 2026-03-04, 2026-03-04T09:58",
        parse: parseSince,
      },
      {
        flags: "--until <time>",
        description: "Taken then or earlier; a day or a minute to its end",
        parse: parseUntil,
      },
      {
        flags: "-n, --limit <count>",
        description: "Only so many, the newest of those that fit",
        parse: parseLimit,
      },
    ],
    examples: [
      ["waypoint log", "Every session and its branches"],
      ["waypoint log web -n 10", "The ten newest checkpoints of web"],
      ["waypoint log web --path /etc --since yesterday", "Where something below /etc changed"],
      ["waypoint log --path '*.sql' --verified failing", "Failed, after SQL files had changed"],
      ["waypoint log --grep 'out of memory'", "Where a command printed that"],
    ],
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    load: () => import("../commands/log.ts"),
  },
  {
    name: "show",
    summary: "Show one checkpoint in full",
    description:
      "What was meant, what changed since its parent, the commands with what they printed, the " +
      "verification, processes and screen. What is unknown is said with the reason.",
    arguments: [CHECKPOINT],
    options: [
      {
        flags: "--section <names>",
        description: `Only these, in full: ${SHOW_SECTIONS.join(", ")}`,
        parse: parseShowSections,
      },
    ],
    examples: [
      ["waypoint show web@", "The checkpoint where web stands"],
      ["waypoint show web@ --section files,packages", "Nothing but these, and all of them"],
      ["waypoint show web@~1", "The one before"],
    ],
    errors: ["CHECKPOINT_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    load: () => import("../commands/show.ts"),
  },
  {
    name: "diff",
    summary: "Show what differs between two moments",
    description:
      "Any two: checkpoints of the same or of different branches, or sessions as they are now.",
    arguments: [
      ["<from>", "A checkpoint, as in `waypoint show`, or a session: as it is now", parseReference],
      ["<to>", "The same", parseReference],
      [
        "[path]",
        "Only what lies at or below this path; a relative one begins where the session's shell was",
      ],
    ],
    options: [
      { flags: "--stat", description: "List what differs, without the lines of texts" },
      { flags: "--name-only", description: "List names alone" },
      { flags: "--expand", description: "List what groups such as node_modules stand for" },
      {
        flags: "--section <names>",
        description: `Compare only these: ${CHANGES_SECTIONS.join(", ")}`,
        parse: parseChangesSections,
      },
    ],
    examples: [
      ["waypoint diff web@~1 web@", "What the last checkpoint of web changed"],
      ["waypoint diff web@ web --stat", "What web changed since then"],
      ["waypoint diff green web@ /etc", "Only below /etc"],
      ["waypoint diff green web --section packages,ports", "Packages and ports alone"],
    ],
    errors: [
      "CHECKPOINT_NOT_FOUND",
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "CHECKPOINT_INCOMPLETE",
      "STORE_FULL",
    ],
    answers: [
      { exitCode: 0, meaning: "nothing differs" },
      { exitCode: EXIT_CODE_DIFFERENT, meaning: "something differs" },
    ],
    load: () => import("../commands/diff.ts"),
  },
];
