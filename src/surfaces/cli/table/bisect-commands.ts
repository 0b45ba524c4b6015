import type { CommandSpec } from "../command-spec.ts";
import { EXIT_CODE_UNDECIDED } from "../exit-codes.ts";
import { parseConcurrency, parseReference, parseSeconds } from "../parse-values.ts";

export const BISECT_COMMAND: CommandSpec = {
  name: "bisect",
  summary: "Find the first bad checkpoint between two",
  description:
    "Runs the command in throw-away forks of checkpoints between GOOD, where it passes, and BAD, where " +
    "it fails and which descends from it; both are tried first. As for `git bisect run`, exit code " +
    "0 means good, 125 that this checkpoint cannot be tested, any other below 128 bad, and from 128 " +
    "on the search stops. What the command said is kept to be used again, " +
    "but for skips, and marks no checkpoint. Ctrl-C leaves no fork.",
  arguments: [
    ["<good>", "Checkpoint at which the command passes, as in `waypoint show`", parseReference],
    ["<bad>", "Checkpoint at which it fails", parseReference],
    ["[command...]", "After --: one word is a line of shell, several a program and its arguments"],
  ],
  options: [
    {
      flags: "-n, --jobs <count>",
      description: "Forks at once, at most 64, as memory allows [the number of processors]",
      parse: parseConcurrency,
    },
    {
      flags: "--timeout <seconds>",
      description: "End the command after this time, at each checkpoint, at most 86400 [600]",
      parse: parseSeconds,
    },
    {
      flags: "--timeout-means <verdict>",
      description: "What it says of a checkpoint when it takes too long [bad]",
      choices: ["bad", "skip"],
    },
    { flags: "--trust", description: "Do not try GOOD and BAD themselves" },
    { flags: "--no-record", description: "Keep nothing beside the checkpoints" },
    {
      flags: "--no-reuse",
      description: "Run it also where the very same command has been run before",
    },
  ],
  examples: [
    ["waypoint bisect green web@ -- npm test", "Where the tests began to fail"],
    ["waypoint bisect web@~40 web@ -n 4 -- pytest -q tests/api", "Four forks at once"],
    [
      'waypoint bisect green web@ -- "make || exit 125; ./check"',
      "Skips checkpoints that do not build",
    ],
  ],
  errors: [
    "CHECKPOINT_NOT_FOUND",
    "REFERENCE_AMBIGUOUS",
    "CHECKPOINT_NOT_ANCESTOR",
    "BISECT_GOOD_FAILS",
    "BISECT_BAD_PASSES",
    "BISECT_STOPPED",
    "FORK_REFUSED",
    "CANCELLED",
  ],
  answers: [
    {
      exitCode: EXIT_CODE_UNDECIDED,
      meaning: "it is any of several checkpoints that could not be tested",
    },
  ],
  load: () => import("../commands/bisect.ts"),
};
