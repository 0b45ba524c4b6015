import type { ArgumentSpec, CommandSpec } from "../command-spec.ts";
import { EXIT_CODE_NOT_SEARCHED, EXIT_CODE_NOTHING_FOUND } from "../exit-codes.ts";
import { parseReference } from "../parse-values.ts";

const MOMENT = "a checkpoint, as in `waypoint show`, or a session: as it is now";

const PLACES: ArgumentSpec = ["<places...>", `MOMENT:PATH; a moment is ${MOMENT}`];

/** Commands that bring files back from any moment. */
export const FILE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "cat",
    summary: "Print files of any moment",
    description:
      "Exactly, binary files too; on a terminal, control characters are shown and not obeyed. A " +
      "relative PATH begins where the session's shell was. Links are followed inside the moment.",
    arguments: [PLACES],
    examples: [
      ["waypoint cat web@~3:/srv/app.conf", "The file as it was three checkpoints ago"],
      ["waypoint cat green:data.db > data.db", "Byte for byte, from the shell's directory then"],
      ["waypoint cat web:/etc/hosts", "As it is in web now"],
    ],
    errors: [
      "CHECKPOINT_NOT_FOUND",
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "FILE_NOT_FOUND",
      "FILE_REFUSED",
      "FILE_FAILED",
      "CHECKPOINT_INCOMPLETE",
    ],
    load: () => import("../commands/cat.ts"),
  },
  {
    name: "cp",
    summary: "Copy files out of any moment, or into a live session",
    description:
      "One side at least is MOMENT:PATH; a path of this machine has a slash or no colon. As " +
      "`cp -a`: directories with all that is in them, modes, times, attributes, links as links, " +
      "holes. Each file is replaced as a whole or not at all. Files of this machine belong to " +
      "root in the session.",
    arguments: [
      ["<paths...>", `What to copy, one or several, and last where to; a moment is ${MOMENT}`],
    ],
    options: [
      { flags: "--owner <owner>", description: "Owner of the copies: USER, UID or UID:GID" },
    ],
    examples: [
      ["waypoint cp web@~3:/srv/app ./app", "The directory as it was three checkpoints ago"],
      ["waypoint cp ./fix.py web:/srv/app/", "A file of this machine into web"],
      ["waypoint cp green:/srv/app web:/srv", "What is in green, into web as it runs"],
    ],
    errors: [
      "CHECKPOINT_NOT_FOUND",
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "SESSION_WRONG_STATE",
      "FILE_NOT_FOUND",
      "FILE_REFUSED",
      "FILE_FAILED",
      "STORE_FULL",
      "CHECKPOINT_INCOMPLETE",
    ],
    load: () => import("../commands/cp.ts"),
  },
  {
    name: "browse",
    summary: "Mount the files of a moment, read-only",
    description:
      "Prints the directory. It lasts until --end or the daemon's end. Links lead where they lead " +
      "on this machine. What a session had bound was not captured and is not there.",
    arguments: [
      ["[moment]", `A moment: ${MOMENT}`, parseReference],
      ["[directory]", "An empty directory; one is made if none is given"],
    ],
    options: [
      { flags: "--list", description: "List what is mounted" },
      { flags: "--end <which>", description: "Unmount: its id, directory or checkpoint" },
    ],
    examples: [
      ["ls $(waypoint browse web@~3)/srv", "Look around three checkpoints ago"],
      ["waypoint browse green /mnt", "On a directory of yours"],
      ["waypoint browse --end /mnt", "Unmount it"],
    ],
    errors: [
      "CHECKPOINT_NOT_FOUND",
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "FILE_NOT_FOUND",
      "FILE_REFUSED",
      "SANDBOX_FAILED",
      "TOOL_FAILED",
      "STORE_FULL",
      "CHECKPOINT_INCOMPLETE",
    ],
    load: () => import("../commands/browse.ts"),
  },
  {
    name: "grep",
    summary: "Search files and recorded outputs across checkpoints",
    description:
      "Newest first. Of the oldest checkpoint searched: all that its session had written; of the " +
      "others, what they changed; and what commands printed and the terminal showed. Prints " +
      "CHECKPOINT:PATH:LINE: text, or FIRST..LAST:PATH:… where the file stayed like that; where the " +
      "checkpoints searched have branches, LAST is not known and left out (`until` is null). With " +
      "--json each match is a line, and the last line counts them.",
    arguments: [
      ["<pattern>", "An extended regular expression, as of grep -E"],
      ["[checkpoints...]", "Checkpoints to search; all if none is given"],
    ],
    options: [
      {
        flags: "--session <session>",
        description: "The history of this session",
        parse: parseReference,
      },
      {
        flags: "--path <glob>",
        description: "Only files that it fits: a name (*.py), or a path with slashes",
      },
      { flags: "--outputs", description: "Only what commands printed and the terminal showed" },
      { flags: "--files", description: "Only files" },
      { flags: "-i, --ignore-case", description: "Upper and lower case are the same" },
      { flags: "-F, --fixed", description: "The pattern is plain text" },
      { flags: "-l, --list", description: "Name what matches, without lines" },
    ],
    examples: [
      ["waypoint grep listen --session web", "In the whole history of web"],
      ["waypoint grep 'port: [0-9]+' --path '*.yaml' web@ web@~1", "In two checkpoints"],
      ["waypoint grep -F 'Traceback' --outputs", "In what commands printed"],
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
  },
];
