import type { CommandSpec } from "../command-spec.ts";
import { commandOf, option } from "./from-contract.ts";
import { SESSION } from "./references.ts";

/** Whom a session talked to. */
export const CONTACTS_COMMAND: CommandSpec = commandOf("contacts", {
  arguments: () => [SESSION],
  options: () => [option("contacts", "since", { value: "checkpoint" })],
  load: () => import("../commands/contacts.ts"),
});
