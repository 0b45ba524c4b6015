import type { CommandSpec } from "../command-spec.ts";
import { collect } from "../parse-values.ts";
import { commandOf, option } from "./from-contract.ts";
import { SESSION } from "./references.ts";

/** What was decided, and why. */
export const DECISION_COMMANDS: readonly CommandSpec[] = [
  commandOf("note", {
    arguments: () => [SESSION],
    options: () => [
      option("note", "choice", { name: "message", short: "m", value: "text" }),
      option("note", "reason", { value: "text" }),
      option("note", "alternatives", {
        ...{ name: "alternative", value: "text", form: "may be repeated", parse: collect },
      }),
    ],
    load: () => import("../commands/note.ts"),
  }),
  commandOf("lessons", {
    arguments: () => [SESSION],
    options: () => [option("lessons", "all"), option("lessons", "grep", { value: "text" })],
    load: () => import("../commands/lessons.ts"),
  }),
];
