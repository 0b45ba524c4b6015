import { z } from "zod";
import { momentRef, sessionRef } from "./inputs.ts";
import { describe } from "./operation-contract.ts";
import { stateKey, stateValues } from "./state.ts";

const id = z.string().min(1).max(64);
const note = z.string().min(1).max(4000);

/** A task as it is told. */
export const taskSchema = z.object({
  id: z.string(),
  title: z.string(),
  status: z.enum(["pending", "in-progress", "completed", "failed", "skipped"]),
  dependsOn: z.array(z.string()).describe("Ids of what has to be done before"),
  attempts: z.number().int().describe("How often it was begun"),
  notes: z.array(z.string()),
  result: z.unknown().describe("What came of it, as it was handed over; null for nothing"),
});
export type Task = z.infer<typeof taskSchema>;

const errors = ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS", "STORE_FULL", "STORE_FAILED"] as const;

/** The operations on an agent's tasks, which are part of its state. */
export const TASK_CONTRACT = {
  "task.list": describe({
    summary: "List an agent's tasks at any moment",
    errors: ["SESSION_NOT_FOUND", "CHECKPOINT_NOT_FOUND", "REFERENCE_AMBIGUOUS", "STORE_FAILED"],
    examples: [
      ["waypoint task list web", "As they are now"],
      ["waypoint task list green", "As they were then"],
    ],
    effect: "read",
    input: z.strictObject({ moment: momentRef }),
    output: z.object({
      tasks: z.array(taskSchema),
      next: z.string().nullable().describe("The first that can be done; null where none is left"),
    }),
  }),
  "task.add": describe({
    summary: "Add a task",
    errors,
    examples: [
      ['waypoint task add web "Write the migration"', "Its id is the next number"],
      ['waypoint task add web "Deploy" --after 1 --after 2', "Only when both are done"],
    ],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      title: z.string().min(1).max(500).describe("What is to be done"),
      id: id.optional().describe("Names it [the next number]"),
      after: z.array(id).max(1000).default([]).describe("Task that has to be done before"),
    }),
    output: taskSchema,
  }),
  "task.begin": describe({
    summary: "Begin a task, or the next one",
    description:
      "The next one is the first that is not done and whose dependencies are. One in progress " +
      "is begun again: whoever was at it may have died.",
    errors: [...errors, "TASK_NOT_FOUND", "TASK_NOT_READY"],
    examples: [
      ["waypoint task begin web", "The next one; null with --json where none is left"],
      ["waypoint task begin web 3", "That one"],
    ],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      task: id.optional().describe("Id of the task [the next one]"),
    }),
    output: z.object({ task: taskSchema.nullable().describe("null where none is left") }),
  }),
  "task.set": describe({
    summary: "Say what became of a task",
    description: "With --append and --state in one step: all of it is kept, or nothing.",
    errors: [...errors, "TASK_NOT_FOUND", "STATE_TOO_LARGE"],
    examples: [
      ["waypoint task set web 3 completed --result '{\"rows\":12}'", "Done, with a result"],
      ['waypoint task set web 3 failed --note "no network"', "Tried again by the next begin"],
      [
        "waypoint task set web 3 completed --append conversation=@answer.json",
        "The task's end and the message of it in one step",
      ],
    ],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      task: id.describe("Id of the task"),
      status: z
        .enum(["pending", "completed", "failed", "skipped"])
        .optional()
        .describe("What became of it [as it is]"),
      note: note.optional().describe("A line for its notes"),
      result: z.unknown().optional().describe("What came of it, as JSON"),
      append: z
        .record(stateKey, z.array(z.unknown()))
        .default({})
        .describe("Items for the ends of lists of the state, such as the conversation"),
      state: stateValues.default({}).describe("Values of the state"),
    }),
    output: taskSchema,
  }),
} as const;
