import type { ArgumentSpec, OptionSpec } from "../command-spec.ts";
import { argument, flagOff, option } from "./from-contract.ts";

/** The session that a command is about. */
export const SESSION: ArgumentSpec = argument("ps", "session", "<session>");

/** The checkpoint that a command is about. */
export const CHECKPOINT: ArgumentSpec = argument("show", "checkpoint", "<checkpoint>");

/** What a command says that asks before it changes something. */
export const YES: OptionSpec = { flags: "-y, --yes", description: "Do not ask" };

/** What commands that go back may lose of what is there now. */
export const LOSS_OPTIONS: readonly OptionSpec[] = [
  option("restore", "loseProcesses"),
  option("restore", "withoutUndo"),
];

/** A comparison of the outcome that a person gets unless they say no; programs ask for it. */
export const NO_CHECK: OptionSpec = flagOff("restore", "check");
