import type { CommandSpec } from "../command-spec.ts";
import { argument } from "./from-contract.ts";

export const REWIND_COMMAND: CommandSpec = {
  name: "rewind",
  summary: "Choose a checkpoint on the whole screen and go back to it",
  description:
    "Shows the timeline, and beside it what a restore of the selected checkpoint would change. " +
    "Arrows move, / searches, d shows the diff, v verifies, f forks, Enter restores after a " +
    "question, q leaves, ? tells the keys. Needs a terminal; a restore has its `waypoint undo`.",
  arguments: () => [argument("ps", "session", "[session]", { otherwise: "the only one" })],
  examples: [
    ["waypoint rewind web", "Look through the timeline of web"],
    ["waypoint rewind", "The same where there is only one session"],
  ],
  errors: [
    "SESSION_NOT_FOUND",
    "CHECKPOINT_NOT_FOUND",
    "REFERENCE_AMBIGUOUS",
    "CHECKPOINT_OF_OTHER_SESSION",
    "BIND_SOURCE_MISSING",
    "CRIU_DUMP_FAILED",
    "CRIU_RESTORE_FAILED",
    "STORE_FULL",
    "TERMINAL_IN_USE",
    "CANCELLED",
  ],
  load: () => import("../commands/rewind.ts"),
};
