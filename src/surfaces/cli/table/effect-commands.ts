import type { CommandSpec } from "../command-spec.ts";
import { parseJson } from "../parse-state.ts";
import { argument, commandOf, option } from "./from-contract.ts";
import { SESSION } from "./references.ts";

const LIST = {
  arguments: () => [SESSION],
  options: () => [option("effect.list", "since", { value: "checkpoint" })],
  load: () => import("../commands/effect-list.ts"),
};

/** What an agent did outside. */
export const EFFECT_COMMAND: CommandSpec = {
  name: "effects",
  summary: "Show and settle what an agent did outside",
  examples: [["waypoint effects web", "As `waypoint effects list web`"]],
  operations: ["effect.list"],
  ...LIST,
  subcommands: [
    commandOf("effect.list", { name: "list", ...LIST }),
    commandOf("effect.settle", {
      name: "settle",
      arguments: () => [
        SESSION,
        argument("effect.settle", "key", "<key>"),
        argument("effect.settle", "found", "<found>"),
      ],
      options: () => [option("effect.settle", "outcome", { value: "json", parse: parseJson })],
      load: () => import("../commands/effect-settle.ts"),
    }),
  ],
};
