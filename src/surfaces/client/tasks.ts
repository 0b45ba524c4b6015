import type { OperationInput, Task } from "../../shared/protocol/index.ts";
import { callOperation } from "./call-operation.ts";
import { type CallControl, splitControl } from "./options.ts";
import { requireSize } from "./require-size.ts";

/** A task to add. */
export type NewTask = Omit<OperationInput<"task.add">, "session">;

/** What became of a task; with `append` and `state` what else is kept in the same step. */
export type TaskOutcome = Omit<OperationInput<"task.set">, "session" | "task"> & CallControl;

/** What is kept of the agent's state in one step with the end of a task. */
export interface TaskEnd {
  /** Adds items to the end of a list, such as the conversation. */
  append(key: string, items: readonly unknown[]): void;
  /** Keeps a value. */
  set(key: string, value: unknown): void;
}

/** The tasks of a session's agent: part of its state, so a restore brings back their status of then. */
export class Tasks {
  readonly #stateDir: string;
  readonly #session: string;

  constructor(stateDir: string, session: string) {
    this.#stateDir = stateDir;
    this.#session = session;
  }

  /** Returns all of them, in their order. */
  async list(control: CallControl = {}): Promise<Task[]> {
    const request = { moment: this.#session };
    return (await callOperation(this.#stateDir, "task.list", request, control)).tasks;
  }

  /** Adds one. @throws USAGE_INVALID  its id is taken, or it depends on what is not there. */
  async add(task: NewTask & CallControl): Promise<Task> {
    const { control, input } = splitControl(task);
    return await callOperation(
      this.#stateDir,
      "task.add",
      { ...input, session: this.#session },
      control,
    );
  }

  /**
   * Adds those of a plan that are not there yet, all in one step, and returns all there are. An agent that is
   * started again calls it again.
   *
   * @throws USAGE_INVALID  one has no id, depends on what is not there, or they depend on each other.
   * @throws STATE_CONFLICT  another agent has changed the state meanwhile.
   */
  async plan(
    tasks: readonly (NewTask & { id: string })[],
    control: CallControl = {},
  ): Promise<Task[]> {
    const moment = { moment: this.#session };
    const { version } = await callOperation(this.#stateDir, "state", moment, control);
    const known = await this.list(control);
    const missing = tasks
      .filter(({ id }) => known.every((task) => task.id !== id))
      .map(({ after = [], ...task }) => ({ ...task, dependsOn: after }));
    if (missing.length === 0) return known;
    const change = { session: this.#session, append: { tasks: missing }, ifVersion: version };
    await callOperation(this.#stateDir, "state.set", change, control);
    return await this.list(control);
  }

  /** Returns the first that is not done and whose dependencies are; undefined where none is left. */
  async next(control: CallControl = {}): Promise<Task | undefined> {
    const request = { moment: this.#session };
    const { tasks, next } = await callOperation(this.#stateDir, "task.list", request, control);
    return tasks.find(({ id }) => id === next);
  }

  /**
   * Begins a task, or the next one; undefined where none is left. One in progress is begun again:
   * whoever was at it may have died.
   *
   * @throws TASK_NOT_FOUND | TASK_NOT_READY  it is done, or waits for others.
   */
  async begin(task?: string, control: CallControl = {}): Promise<Task | undefined> {
    const request = { session: this.#session, ...(task === undefined ? {} : { task }) };
    return (await callOperation(this.#stateDir, "task.begin", request, control)).task ?? undefined;
  }

  /**
   * Says what became of a task; `append` and `state` change the agent's state in the same step: all of it
   * is kept, or nothing.
   *
   * @throws TASK_NOT_FOUND | STATE_TOO_LARGE
   */
  async set(task: string, outcome: TaskOutcome): Promise<Task> {
    const { control, input } = splitControl(outcome);
    requireSize(input);
    const request = { ...input, session: this.#session, task };
    return await callOperation(this.#stateDir, "task.set", request, control);
  }

  /**
   * Does what is left: begins the next task, hands it to `work`, keeps what that returns as its result,
   * and goes on until none is left. Started again after a kill it goes on with the first one that was
   * not completed. What `work` hands to its second argument is kept in one step with the task's end.
   *
   * **On failure** of `work` the task has failed, with the error in its notes, nothing was kept of what it
   * had handed over, and the error is thrown: the next call begins with that task again.
   *
   * @throws CANCELLED  between two tasks
   */
  async run(
    work: (task: Task, atEnd: TaskEnd) => Promise<unknown>,
    control: CallControl = {},
  ): Promise<void> {
    for (;;) {
      const task = await this.begin(undefined, control);
      if (task === undefined) return;
      const { id } = task;
      const append: Record<string, unknown[]> = {};
      const state: Record<string, unknown> = {};
      const atEnd: TaskEnd = {
        append: (key, items) => {
          append[key] = [...(append[key] ?? []), ...items];
        },
        set: (key, value) => {
          state[key] = value;
        },
      };
      const result = await work(task, atEnd).catch(async (error: unknown) => {
        const note = String(error).slice(0, 4000) || "It failed.";
        await this.set(id, { status: "failed", note });
        throw error;
      });
      // What was done is told, whatever was cancelled meanwhile.
      await this.set(id, { status: "completed", result: result ?? null, append, state });
    }
  }
}
