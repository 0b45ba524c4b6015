import type { CommandSpec, OptionSpec } from "../command-spec.ts";
import { EXIT_CODE_NOT_PASSED, EXIT_CODE_NOT_VERIFIED } from "../exit-codes.ts";
import { parseConcurrency, parseReference, parseSeconds, parseText } from "../parse-values.ts";

/** What `checkpoint` takes of a verification. */
export const VERIFY_OPTIONS: readonly OptionSpec[] = [
  {
    flags: "--verify <command>",
    description: "Then run this line of shell in a throw-away fork of exactly this checkpoint",
    parse: parseText,
  },
  {
    flags: "--verify-timeout <seconds>",
    description: "End the verification after this time, at most 86400 [600]",
    parse: parseSeconds,
  },
  {
    flags: "--no-wait",
    description: "Do not wait for the verification; `waypoint show` has its result later",
  },
];

export const VERIFY_COMMAND: CommandSpec = {
  name: "verify",
  summary: "Run a command against checkpoints, each in a throw-away fork",
  description:
    "The command runs in the shell of that very moment, and nothing it does to files, processes or " +
    "memory reaches the session. The result is kept beside the checkpoint, where `show` and `log` " +
    "tell it. The ✓ or ✗ of a checkpoint is what its own command said last: that of `checkpoint " +
    "--verify`, else the first one here that came to a verdict. Exit codes from 126 on, signals and " +
    "timeouts are none.",
  arguments: [["[checkpoint...]", "Checkpoints, each as in `waypoint show`"]],
  usageEnd: "-- <command...>",
  options: [
    {
      flags: "--session <session>",
      description: "Also all checkpoints of this session's timeline",
      parse: parseReference,
    },
    {
      flags: "--timeout <seconds>",
      description: "End the command after this time, for each checkpoint, at most 86400 [600]",
      parse: parseSeconds,
    },
    {
      flags: "-n, --jobs <count>",
      description: "Forks at once, at most 64, as memory allows [the number of processors]",
      parse: parseConcurrency,
    },
  ],
  examples: [
    ["waypoint verify web@ -- npm test", "Whether the tests pass where web stands"],
    ["waypoint verify green web@~2 --timeout 60 -- make check", "Two checkpoints, a minute each"],
    ["waypoint verify --session web -n 4 -- pytest -q", "All of the timeline of web, four at once"],
  ],
  errors: ["CHECKPOINT_NOT_FOUND", "SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS", "CANCELLED"],
  answers: [
    {
      exitCode: EXIT_CODE_NOT_PASSED,
      meaning: "the command failed or took too long, at one checkpoint at least",
    },
    {
      exitCode: EXIT_CODE_NOT_VERIFIED,
      meaning: "it could not be run, at one checkpoint at least",
    },
  ],
  load: () => import("../commands/verify.ts"),
};
