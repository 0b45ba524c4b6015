import path from "node:path";
import type { CommandSpec } from "../command-spec.ts";
import { collect } from "../parse-values.ts";
import { argument, commandOf, option } from "./from-contract.ts";

/** Commands about root filesystems that the store keeps. */
export const BASE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "base",
    summary: "Keep root filesystems for sessions to stand on",
    examples: [["waypoint base", "As `waypoint base ls`"]],
    operations: ["base.ls"],
    load: () => import("../commands/base-ls.ts"),
    subcommands: [
      commandOf("base.add", {
        name: "add",
        arguments: () => [argument("base.add", "name", "<name>")],
        options: () => [
          option("base.add", "from", { value: "path", parse: (text) => path.resolve(text) }),
          option("base.add", "exclude", { value: "path", form: "may be repeated", parse: collect }),
          { flags: "--from-host", description: "This machine's own root: as --from /" },
        ],
        load: () => import("../commands/base-add.ts"),
      }),
      commandOf("base.ls", { name: "ls", load: () => import("../commands/base-ls.ts") }),
      commandOf("base.rm", {
        name: "rm",
        arguments: () => [argument("base.rm", "base", "<base>")],
        load: () => import("../commands/base-rm.ts"),
      }),
      commandOf("base.default", {
        name: "default",
        arguments: () => [argument("base.default", "base", "[base]")],
        options: () => [{ flags: "--none", description: "None: the host's own root" }],
        load: () => import("../commands/base-default.ts"),
      }),
    ],
  },
];
