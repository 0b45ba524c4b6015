import type { CommandSpec } from "../command-spec.ts";
import { EXIT_CODE_UNDECIDED } from "../exit-codes.ts";
import { argument, commandOf, option } from "./from-contract.ts";

export const BISECT_COMMAND: CommandSpec = commandOf("bisect", {
  note: "Ctrl-C leaves no fork. With --json each step is a line, as it comes, and the result the last one.",
  arguments: () => [
    argument("bisect", "good", "<good>"),
    argument("bisect", "bad", "<bad>"),
    argument("bisect", "command", "[command...]", { form: "after --" }),
  ],
  options: () => [
    option("bisect", "concurrency", { short: "n", name: "jobs" }),
    option("bisect", "timeoutMs"),
    option("bisect", "timeoutMeans", { value: "verdict" }),
    option("bisect", "trust"),
    option("bisect", "record"),
    option("bisect", "reuse"),
  ],
  answers: [
    {
      exitCode: EXIT_CODE_UNDECIDED,
      meaning: "it is any of several checkpoints that could not be tested",
    },
  ],
  load: () => import("../commands/bisect.ts"),
});
