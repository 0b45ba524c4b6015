import type { CommandSpec } from "../command-spec.ts";
import { asking, commandOf, option } from "./from-contract.ts";
import { YES } from "./references.ts";

/** The command that removes. */
export const REMOVE_COMMANDS: readonly CommandSpec[] = [
  commandOf("rm", {
    also: ["rm.checkpoints", "rm.files"],
    summary: "Remove sessions with their files and checkpoints, or single checkpoints",
    note:
      "A name is a session, if there is one of that name, else a checkpoint. Each session is tried; " +
      "the exit code is that of the first failure. Asks first on a terminal.",
    arguments: () => [{ name: "<names...>", description: "Sessions, or checkpoints" }],
    options: () => [option("rm", "force", { short: "f" }), asking("rm.files", "--files"), YES],
    load: () => import("../commands/rm.ts"),
  }),
];
