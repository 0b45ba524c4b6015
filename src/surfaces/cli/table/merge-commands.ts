import type { CommandSpec } from "../command-spec.ts";
import { EXIT_CODE_CONFLICTS } from "../exit-codes.ts";
import { argument, asking, commandOf, option } from "./from-contract.ts";
import { CHECKPOINT, SESSION } from "./references.ts";

/** Commands that take work over: out of the sandbox, and from branch to branch. */
export const MERGE_COMMANDS: readonly CommandSpec[] = [
  commandOf("apply", {
    also: ["apply.undo", "apply.continue", "apply.abort"],
    arguments: () => [
      argument("apply", "checkpoint", "[checkpoint]"),
      argument("apply", "paths", "[paths...]"),
    ],
    options: () => [
      option("apply", "to", { value: "dir" }),
      option("apply", "dryRun", { short: "n" }),
      option("apply", "patch"),
      option("apply", "force"),
      asking("apply.undo", "--undo [operation]", "operation"),
      asking("apply.continue", "--continue"),
      asking("apply.abort", "--abort"),
    ],
    answers: [{ exitCode: EXIT_CODE_CONFLICTS, meaning: "with --dry-run: there are conflicts" }],
    load: () => import("../commands/apply.ts"),
  }),
  commandOf("merge", {
    arguments: () => [SESSION, CHECKPOINT],
    options: () => [option("merge", "dryRun", { short: "n" })],
    answers: [{ exitCode: EXIT_CODE_CONFLICTS, meaning: "there are conflicts" }],
    load: () => import("../commands/merge.ts"),
  }),
];
