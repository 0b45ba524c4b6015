import { describe } from "./operation-contract.ts";
import { verifyInput, verifyOutput } from "./verification.ts";

/** The operation that runs a command against checkpoints. */
export const VERIFY_CONTRACT = {
  verify: describe({
    summary: "Run a command against checkpoints, each in a throw-away fork",
    description:
      "The command runs in the shell of that very moment. Nothing it does to files, " +
      "processes or memory reaches the session. The result is kept beside the checkpoint, " +
      "where `show` and `log` tell it. The ✓ or ✗ of a checkpoint is what its own command " +
      "said last: that of `checkpoint --verify`, else the first one here that came to a " +
      "verdict. Exit codes from 126 on, signals and timeouts are none.",
    errors: ["CHECKPOINT_NOT_FOUND", "SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    examples: [
      ["waypoint verify web@ -- npm test", "Whether the tests pass where web stands"],
      ["waypoint verify green web@~2 --timeout 60 -- make check", "Two checkpoints, a minute each"],
      [
        "waypoint verify --session web -n 4 -- pytest -q",
        "All of the timeline of web, four at once",
      ],
    ],
    effect: "write",
    stream: true,
    input: verifyInput,
    output: verifyOutput,
  }),
} as const;
