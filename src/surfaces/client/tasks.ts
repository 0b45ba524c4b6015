import type { OperationInput, Task } from "../../shared/protocol/index.ts";
import { callOperation } from "./call-operation.ts";
import { type CallControl, splitControl } from "./options.ts";

/** A task to add. */
export type NewTask = Omit<OperationInput<"task.add">, "session">;

/** What became of a task. */
export type TaskOutcome = Omit<OperationInput<"task.set">, "session" | "task"> & CallControl;

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
   * @throws USAGE_INVALID  it is done, or waits for others.
   */
  async begin(task?: string, control: CallControl = {}): Promise<Task | undefined> {
    const request = { session: this.#session, ...(task === undefined ? {} : { task }) };
    return (await callOperation(this.#stateDir, "task.begin", request, control)).task ?? undefined;
  }

  /** Says what became of a task. @throws USAGE_INVALID  there is none of that id. */
  async set(task: string, outcome: TaskOutcome): Promise<Task> {
    const { control, input } = splitControl(outcome);
    const request = { ...input, session: this.#session, task };
    return await callOperation(this.#stateDir, "task.set", request, control);
  }

  /**
   * Does what is left: begins the next task, hands it to `work`, keeps what that returns as its result,
   * and goes on until none is left. Started again after a kill it goes on with the first one that was
   * not completed.
   *
   * **On failure** of `work` the task has failed, with the error in its notes, and the error is thrown:
   * the next call begins with that task again.
   */
  async run(work: (task: Task) => Promise<unknown>, control: CallControl = {}): Promise<void> {
    for (let task = await this.begin(); task !== undefined; task = await this.begin()) {
      control.signal?.throwIfAborted();
      const { id } = task;
      const result = await work(task).catch(async (error: unknown) => {
        const note = String(error).slice(0, 4000) || "It failed.";
        await this.set(id, { status: "failed", note });
        throw error;
      });
      await this.set(id, { status: "completed", result: result ?? null });
    }
  }
}
