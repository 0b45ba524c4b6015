import type { CommandSpec } from "../command-spec.ts";
import { collectItems, collectState, parseJson, parseSchema } from "../parse-state.ts";
import { collect } from "../parse-values.ts";
import { argument, commandOf, option } from "./from-contract.ts";
import { SESSION } from "./references.ts";

const MANY = "as JSON or @FILE; may be repeated";

/** What an agent has beside its machine. */
export const STATE_COMMAND: CommandSpec = commandOf("state", {
  also: ["state.set"],
  note:
    "A value is JSON, or @FILE with JSON in it, or @- for standard input. A list that is appended " +
    "is its items, all else one item.",
  arguments: () => [argument("state", "moment", "<moment>"), argument("state", "key", "[key]")],
  options: () => [
    option("state.set", "set", { value: "key=value", form: MANY, parse: collectState }),
    option("state.set", "append", { value: "key=value", form: MANY, parse: collectState }),
    option("state.set", "remove", { value: "key", form: "may be repeated", parse: collect }),
    {
      flags: "--schema <name@version>",
      description: "Of --set: whose values they are, and in which form",
      parse: parseSchema,
    },
    option("state.set", "ifVersion", { value: "version", parse: (text) => text }),
  ],
  load: () => import("../commands/state.ts"),
});

const LIST = {
  arguments: () => [argument("task.list", "moment", "<moment>")],
  load: () => import("../commands/task-list.ts"),
};

/** The tasks of an agent. */
export const TASK_COMMAND: CommandSpec = {
  name: "task",
  summary: "Show and change the tasks of an agent",
  examples: [["waypoint task web", "As `waypoint task list web`"]],
  operations: ["task.list"],
  ...LIST,
  subcommands: [
    commandOf("task.list", { name: "list", ...LIST }),
    commandOf("task.add", {
      name: "add",
      arguments: () => [SESSION, argument("task.add", "title", "<title>")],
      options: () => [
        option("task.add", "id"),
        option("task.add", "after", { value: "id", form: "may be repeated", parse: collect }),
      ],
      load: () => import("../commands/task-add.ts"),
    }),
    commandOf("task.begin", {
      name: "begin",
      arguments: () => [SESSION, argument("task.begin", "task", "[task]")],
      load: () => import("../commands/task-begin.ts"),
    }),
    commandOf("task.set", {
      name: "set",
      arguments: () => [
        SESSION,
        argument("task.set", "task", "<task>"),
        argument("task.set", "status", "[status]"),
      ],
      options: () => [
        option("task.set", "note"),
        option("task.set", "result", { value: "json", parse: parseJson }),
        option("task.set", "append", { value: "key=value", form: MANY, parse: collectItems }),
        option("task.set", "state", { value: "key=value", form: MANY, parse: collectState }),
      ],
      load: () => import("../commands/task-set.ts"),
    }),
  ],
};
