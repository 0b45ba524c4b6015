import { InvalidArgumentError } from "commander";
import { AUTO_POLICY_WORDS, parseAutoPolicy } from "../../../shared/protocol/index.ts";
import type { CommandSpec, OptionSpec } from "../command-spec.ts";
import { argument, commandOf, option } from "./from-contract.ts";
import { SESSION } from "./references.ts";

/** Returns when a session is to be captured by itself. */
function parsePolicy(text: string, besides: string): string {
  const policy = parseAutoPolicy(text);
  if (policy !== null) return policy.text;
  throw new InvalidArgumentError(`Give ${AUTO_POLICY_WORDS}; ${besides}.`);
}

function parseAuto(text: string): string {
  return parsePolicy(text, "--auto alone, behind the name of the session, means hybrid");
}

function parseAutoOrPause(text: string): string {
  if (text === "pause" || text === "resume") return text;
  return parsePolicy(text, "or pause, or resume");
}

/** Of `new` and `run`. */
export const AUTO_OPTION: OptionSpec = option("new", "auto", {
  value: "policy?",
  parse: parseAuto,
  preset: "hybrid",
});

/** Automatic checkpoints of a session that is there already. */
export const AUTO_COMMAND: CommandSpec = commandOf("auto", {
  arguments: () => [
    SESSION,
    argument("auto", "policy", "[policy]", { form: "or pause, resume", parse: parseAutoOrPause }),
  ],
  options: () => [option("auto", "taskDone", { value: "text" })],
  load: () => import("../commands/auto.ts"),
});
