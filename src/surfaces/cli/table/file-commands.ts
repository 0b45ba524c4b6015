import type { CommandSpec } from "../command-spec.ts";
import { EXIT_CODE_NOT_SEARCHED, EXIT_CODE_NOTHING_FOUND } from "../exit-codes.ts";
import { argument, asking, commandOf, option } from "./from-contract.ts";

/** Commands that bring files back from any moment. */
export const FILE_COMMANDS: readonly CommandSpec[] = [
  commandOf("cat", {
    note: "On a terminal, control characters are shown and not obeyed.",
    arguments: () => [argument("cat", "places", "<places...>", { form: "MOMENT:PATH" })],
    load: () => import("../commands/cat.ts"),
  }),
  commandOf("cp", {
    note: "One side at least is MOMENT:PATH; a path of this machine has a slash or no colon.",
    arguments: () => [argument("cp", "from", "<paths...>", { form: "last where to" })],
    options: () => [option("cp", "owner")],
    load: () => import("../commands/cp.ts"),
  }),
  commandOf("browse", {
    also: ["browse.list", "browse.end"],
    note: "Prints the directory.",
    arguments: () => [
      argument("browse", "moment", "[moment]"),
      argument("browse", "directory", "[directory]"),
    ],
    options: () => [
      asking("browse.list", "--list"),
      option("browse.end", "which", { name: "end", value: "which" }),
    ],
    load: () => import("../commands/browse.ts"),
  }),
  commandOf("grep", {
    note:
      "Prints CHECKPOINT:PATH:LINE: text, or FIRST..LAST:PATH:… where the file stayed like that; where " +
      "the checkpoints searched have branches, LAST is not known and left out (`until` is null). With " +
      "--json each match is a line, and the last line counts them.",
    arguments: () => [
      argument("grep", "pattern", "<pattern>"),
      argument("grep", "checkpoints", "[checkpoints...]"),
    ],
    options: () => [
      option("grep", "session"),
      option("grep", "path", { value: "glob" }),
      { flags: "--outputs", description: "Only what commands printed and the terminal showed" },
      { flags: "--files", description: "Only files" },
      option("grep", "ignoreCase", { short: "i" }),
      option("grep", "fixed", { short: "F" }),
      option("grep", "list", { short: "l" }),
    ],
    searches: true,
    answers: [
      { exitCode: 0, meaning: "something was found" },
      { exitCode: EXIT_CODE_NOTHING_FOUND, meaning: "nothing was found" },
      {
        exitCode: EXIT_CODE_NOT_SEARCHED,
        meaning: "something could not be searched, or the search failed",
      },
    ],
    load: () => import("../commands/grep.ts"),
  }),
];
