import type { CommandSpec } from "../command-spec.ts";
import { argument, asking, commandOf, option } from "./from-contract.ts";

/** The command about ports of a session. */
export const FORWARD_COMMANDS: readonly CommandSpec[] = [
  commandOf("forward", {
    also: ["forward.list", "forward.stop"],
    note: "Without a port it lists what is forwarded.",
    arguments: () => [
      argument("forward", "session", "[session]"),
      {
        name: "[ports]",
        description: "Port of the session, and after a colon the one here [a free one]",
      },
    ],
    options: () => [
      option("forward", "to", { value: "session" }),
      asking("forward.stop", "--stop"),
    ],
    load: () => import("../commands/forward.ts"),
  }),
];
