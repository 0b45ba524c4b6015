import { z } from "zod";
import { type ErrorCode, WaypointError } from "../../shared/errors/index.ts";

/** Where a state has its tasks. */
export const TASKS_KEY = "tasks";

const ID_CHARS_MAX = 64;
const TITLE_CHARS_MAX = 500;
const NOTE_CHARS_MAX = 4000;
const TASKS_MAX = 10_000;

const idSchema = z.string().min(1).max(ID_CHARS_MAX);

/** A step of an agent's work. */
export const taskSchema = z.strictObject({
  id: idSchema,
  title: z.string().max(TITLE_CHARS_MAX).default(""),
  status: z.enum(["pending", "in-progress", "completed", "failed", "skipped"]).default("pending"),
  dependsOn: z.array(idSchema).default([]).describe("Ids of what has to be done before"),
  attempts: z.number().int().nonnegative().default(0).describe("How often it was begun"),
  notes: z.array(z.string().max(NOTE_CHARS_MAX)).default([]),
  result: z.json().default(null).describe("What came of it; null for nothing"),
});
export type Task = z.infer<typeof taskSchema>;

/** What is changed in a task; what is left out stays. */
export type TaskChange = Partial<Omit<Task, "id" | "attempts">>;

/**
 * Returns a task list as it may be kept: ids are unique, and dependencies lead to tasks and in no circle.
 *
 * @throws USAGE_INVALID  with what is wrong, and where.
 */
export function parseTasks(value: unknown): Task[] {
  const parsed = z.array(taskSchema).max(TASKS_MAX).safeParse(value);
  if (!parsed.success) throw invalid(`These are no tasks. ${z.prettifyError(parsed.error)}`);
  const tasks = parsed.data;
  const byId = new Map(tasks.map((task) => [task.id, task]));
  if (byId.size < tasks.length) {
    const twice = tasks.find((task) => byId.get(task.id) !== task);
    throw invalid(`Two tasks have the id "${twice?.id}".`);
  }
  for (const { id, dependsOn } of tasks) {
    const unknown = dependsOn.find((other) => !byId.has(other));
    if (unknown !== undefined)
      throw invalid(`Task "${id}" depends on "${unknown}", which is none.`);
  }
  const circle = findCircle(byId);
  if (circle !== null) throw invalid(`These depend on each other: ${circle.join(" → ")}.`);
  return tasks;
}

/**
 * Returns the first task that is not done and whose dependencies are; undefined where none is left.
 *
 * One in progress is not done: whoever did it may have died. One that failed is tried again, until it
 * is skipped. What is skipped holds nothing up.
 */
export function nextTask(tasks: readonly Task[]): Task | undefined {
  const done = new Set(tasks.filter(isDone).map(({ id }) => id));
  return tasks.find((task) => !isDone(task) && task.dependsOn.every((id) => done.has(id)));
}

/**
 * Returns the list with one task begun: in progress, with one attempt more.
 *
 * @throws TASK_NOT_FOUND | TASK_NOT_READY  it is done, or waits for others.
 */
export function beginTask(tasks: readonly Task[], id: string): Task[] {
  const task = requireTask(tasks, id);
  if (isDone(task)) throw notReady(`Task "${id}" is ${task.status}.`);
  const waitsFor = task.dependsOn.find((other) => !isDone(requireTask(tasks, other)));
  if (waitsFor !== undefined) throw notReady(`Task "${id}" waits for "${waitsFor}".`);
  return replace(tasks, { ...task, status: "in-progress", attempts: task.attempts + 1 });
}

/**
 * Returns the list with one task changed.
 *
 * @throws TASK_NOT_FOUND
 * @throws USAGE_INVALID  the list would be none (see {@link parseTasks}).
 */
export function changeTask(tasks: readonly Task[], id: string, change: TaskChange): Task[] {
  return parseTasks(replace(tasks, { ...requireTask(tasks, id), ...change }));
}

function isDone({ status }: Task): boolean {
  return status === "completed" || status === "skipped";
}

function requireTask(tasks: readonly Task[], id: string): Task {
  const task = tasks.find((each) => each.id === id);
  if (task === undefined) throw failure("TASK_NOT_FOUND", `There is no task "${id}".`);
  return task;
}

function replace(tasks: readonly Task[], task: Task): Task[] {
  return tasks.map((each) => (each.id === task.id ? task : each));
}

/** Returns the ids of a circle, its first at its end again. A list may be long: nothing calls itself. */
function findCircle(tasks: ReadonlyMap<string, Task>): string[] | null {
  const settled = new Set<string>();
  for (const start of tasks.keys()) {
    const path: { id: string; left: string[] }[] = [];
    const enter = (id: string) => path.push({ id, left: [...(tasks.get(id)?.dependsOn ?? [])] });
    if (!settled.has(start)) enter(start);
    const onPath = new Set(path.map(({ id }) => id));
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = top.left.pop();
      if (next === undefined) {
        settled.add(top.id);
        onPath.delete(top.id);
        path.pop();
      } else if (onPath.has(next)) {
        const ids = path.map(({ id }) => id);
        return [...ids.slice(ids.indexOf(next)), next];
      } else if (!settled.has(next)) {
        enter(next);
        onPath.add(next);
      }
    }
  }
  return null;
}

function invalid(why: string): WaypointError {
  return failure("USAGE_INVALID", why);
}

function notReady(why: string): WaypointError {
  return failure("TASK_NOT_READY", why);
}

function failure(code: ErrorCode, why: string): WaypointError {
  return new WaypointError(code, why, {
    hint: "`waypoint task list SESSION` has the tasks as they are.",
  });
}
