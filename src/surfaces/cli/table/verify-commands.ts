import type { CommandSpec } from "../command-spec.ts";
import { EXIT_CODE_NOT_PASSED, EXIT_CODE_NOT_VERIFIED } from "../exit-codes.ts";
import { argument, asking, commandOf, option } from "./from-contract.ts";

export const VERIFY_COMMAND: CommandSpec = commandOf("verify", {
  note: "With --json each of the results is a line, as it comes.",
  arguments: () => [argument("verify", "checkpoints", "[checkpoint...]")],
  also: ["verify.set", "verify.forget"],
  usageEnd: "[-- <command...>]",
  options: () => [
    asking("verify.set", "--set <session>"),
    { flags: "--unset <session>", description: "Remove a session's verify command" },
    option("verify.set", "automatic"),
    asking("verify.forget", "--forget"),
    option("verify", "session"),
    option("verify", "timeoutMs"),
    option("verify", "concurrency", { short: "n", name: "jobs" }),
  ],
  answers: [
    {
      exitCode: EXIT_CODE_NOT_PASSED,
      meaning: "the command failed or took too long, at one checkpoint at least",
    },
    {
      exitCode: EXIT_CODE_NOT_VERIFIED,
      meaning: "it could not be run, or was not found (126, 127), at one checkpoint at least",
    },
  ],
  load: () => import("../commands/verify.ts"),
});
