import { InvalidArgumentError } from "commander";
import { AUTO_POLICY_WORDS, parseAutoPolicy } from "../../../shared/protocol/index.ts";
import type { CommandSpec, OptionSpec } from "../command-spec.ts";
import { parseIntent } from "../parse-values.ts";
import { SESSION } from "./references.ts";

/** Returns when a session is to be captured by itself. */
function parseAuto(text: string): string {
  const policy = parseAutoPolicy(text);
  if (policy !== null) return policy.text;
  throw new InvalidArgumentError(
    `Give ${AUTO_POLICY_WORDS}; --auto alone, behind the name of the session, means hybrid.`,
  );
}

function parseAutoOrPause(text: string): string {
  return text === "pause" || text === "resume" ? text : parseAuto(text);
}

/** Of `new` and `run`. */
export const AUTO_OPTION: OptionSpec = {
  flags: "--auto [policy]",
  description:
    "Checkpoints by themselves: hybrid, or command, edit, task, every=5m, with commas [manual]",
  parse: parseAuto,
};

/** Automatic checkpoints of a session that is there already. */
export const AUTO_COMMAND: CommandSpec = {
  name: "auto",
  summary: "Show, choose or pause the automatic checkpoints of a session",
  description:
    "`hybrid`: after commands that changed files, processes, a directory or the shell, and after tasks. " +
    "`command`: after every command. `edit`: when written files have come to rest. `task`: when " +
    "--task-done says so. `every=5m`: every five minutes in which something ran. `manual` or `off`: never. " +
    "They are taken in the background, one at a time; a command that comes meanwhile goes first.",
  arguments: [
    SESSION,
    ["[policy]", "A policy, several with commas between them, pause or resume", parseAutoOrPause],
  ],
  options: [
    {
      flags: "--task-done <text>",
      description: "Say that this task has just ended, for policies with task",
      parse: parseIntent,
    },
  ],
  examples: [
    ["waypoint auto web", "What is chosen, whether it is paused, and the last failure"],
    ["waypoint auto web hybrid,every=10m", "After what changes something, and every ten minutes"],
    ["waypoint auto web pause", "None until `waypoint auto web resume`"],
    ['waypoint auto web --task-done "migration written"', "What an agent says after a task"],
  ],
  errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
  load: () => import("../commands/auto.ts"),
};
