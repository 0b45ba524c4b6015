import { readFileSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import type { CommandSpec, OptionSpec } from "../command-spec.ts";
import { argument, commandOf, option } from "./from-contract.ts";
import { SESSION } from "./references.ts";

/** Returns the text of a policy; that of a file is read here, on the host, when it is chosen. */
function parsePolicy(text: string): string {
  if (text === "off" || text === "default") return text;
  try {
    return readFileSync(text, "utf8");
  } catch (error) {
    throw new InvalidArgumentError(`The file cannot be read: ${(error as Error).message}.`);
  }
}

const POLICY = { value: "policy", form: "off, default, or a file of JSON", parse: parsePolicy };

/** Of `new` and `run`. */
export const APPROVE_OPTION: OptionSpec = option("new", "approve", POLICY);

/** Steps that a person has to approve. */
export const APPROVAL_COMMANDS: readonly CommandSpec[] = [
  commandOf("approvals", {
    also: ["approvals.watch"],
    arguments: [argument("approvals", "session", "[session]")],
    options: [
      { flags: "-f, --follow", description: "Tell them as they come and go, until Ctrl-C" },
    ],
    load: () => import("../commands/approvals.ts"),
  }),
  commandOf("approve", {
    arguments: [argument("approve", "approval", "[approval]")],
    options: [option("approve", "why", { short: "m", value: "text" })],
    load: () => import("../commands/approve.ts"),
  }),
  commandOf("deny", {
    arguments: [argument("deny", "approval", "[approval]")],
    options: [option("deny", "why", { short: "m", value: "text" })],
    load: () => import("../commands/deny.ts"),
  }),
  commandOf("approval", {
    arguments: [SESSION, argument("approval", "policy", "[policy]", POLICY)],
    load: () => import("../commands/approval.ts"),
  }),
];
