import { BASE_CHANGES } from "../base-changes-option.ts";
import type { CommandSpec } from "../command-spec.ts";
import { EXIT_CODE_DIFFERENT } from "../exit-codes.ts";
import { parseChangesSections, parseShowSections, SHOW_SECTIONS } from "../parse-sections.ts";
import { parseSince, parseUntil } from "../parse-time.ts";
import { argument, commandOf, flagOff, option } from "./from-contract.ts";
import { CHECKPOINT } from "./references.ts";

/** Commands that read what checkpoints tell. */
export const STORY_COMMANDS: readonly CommandSpec[] = [
  commandOf("log", {
    note:
      "One line for each checkpoint: what was meant, as said with -m, else the agent's message, the " +
      "command ($, with (exit N) where it failed) or operation that made the change, or a commit; then services, " +
      "files and packages by name, counts last. In a pipe a line has COLUMNS or 160 columns; --json " +
      "has all.",
    arguments: () => [argument("log", "session", "[session]")],
    options: () => [
      BASE_CHANGES,
      option("log", "path"),
      option("log", "package", { value: "name" }),
      option("log", "grep", { value: "text" }),
      option("log", "verified", { value: "result" }),
      option("log", "command"),
      option("log", "tag", { value: "tag" }),
      option("log", "decisions"),
      option("log", "auto"),
      flagOff("log", "auto"),
      option("log", "since", {
        value: "time",
        form: "2h (ago), yesterday, 09:58, 2026-03-04, 2026-03-04T09:58",
        parse: parseSince,
      }),
      option("log", "until", {
        value: "time",
        form: "a day or a minute to its end",
        parse: parseUntil,
      }),
      option("log", "limit", { short: "n", value: "count" }),
    ],
    load: () => import("../commands/log.ts"),
  }),
  commandOf("show", {
    also: ["base.changes"],
    arguments: () => [CHECKPOINT],
    options: () => [
      option("show", "all"),
      BASE_CHANGES,
      {
        flags: "--section <names>",
        description: `Only these, in full: ${SHOW_SECTIONS.join(", ")}`,
        parse: parseShowSections,
      },
    ],
    load: () => import("../commands/show.ts"),
  }),
  commandOf("diff", {
    arguments: () => [
      argument("diff", "from", "<from>"),
      argument("diff", "to", "[to]"),
      argument("diff", "path", "[path]", {
        form: "a relative one begins where the session's shell was",
      }),
    ],
    options: () => [
      { flags: "--stat", description: "List what differs, without the lines of texts" },
      { flags: "--name-only", description: "List names alone" },
      BASE_CHANGES,
      option("diff", "expand"),
      option("diff", "sections", {
        ...{ name: "section", value: "names", parse: parseChangesSections },
      }),
    ],
    answers: [
      { exitCode: 0, meaning: "nothing differs" },
      { exitCode: EXIT_CODE_DIFFERENT, meaning: "something differs" },
    ],
    load: () => import("../commands/diff.ts"),
  }),
];
