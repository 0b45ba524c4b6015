import { InvalidArgumentError } from "commander";
import type { CommandSpec, OptionSpec } from "../command-spec.ts";
import { policyText } from "../read-policy.ts";
import { argument, commandOf, option } from "./from-contract.ts";
import { SESSION } from "./references.ts";

function parsePolicy(text: string): string {
  try {
    return policyText(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

const POLICY = { value: "policy", form: "off, default, or a file of JSON", parse: parsePolicy };

/** Of `new` and `run`. */
export const APPROVE_OPTION: OptionSpec = option("new", "approve", POLICY);

/** Steps that a person has to approve. */
export const APPROVAL_COMMANDS: readonly CommandSpec[] = [
  commandOf("approvals", {
    also: ["approvals.watch"],
    arguments: () => [argument("approvals", "session", "[session]")],
    options: () => [
      { flags: "-f, --follow", description: "Tell them as they come and go, until Ctrl-C" },
    ],
    load: () => import("../commands/approvals.ts"),
  }),
  commandOf("approve", {
    arguments: () => [argument("approve", "approval", "[approval]")],
    options: () => [option("approve", "why", { short: "m", value: "text" })],
    load: () => import("../commands/approve.ts"),
  }),
  commandOf("deny", {
    arguments: () => [argument("deny", "approval", "[approval]")],
    options: () => [option("deny", "why", { short: "m", value: "text" })],
    load: () => import("../commands/deny.ts"),
  }),
  commandOf("approval", {
    arguments: () => [SESSION, argument("approval", "policy", "[policy]", POLICY)],
    load: () => import("../commands/approval.ts"),
  }),
];
