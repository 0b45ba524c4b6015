import { changeState } from "../engine/agent-state/index.ts";
import type { Engine } from "../engine/ports/index.ts";
import {
  beginTask,
  changeTask,
  nextTask,
  parseTasks,
  type StateChange,
  TASKS_KEY,
  type Task,
} from "../portable/agent-state/index.ts";
import type { SessionRow } from "../portable/model/index.ts";
import { WaypointError } from "../shared/errors/index.ts";
import type { OperationName } from "../shared/protocol/index.ts";
import type { HandlersOf } from "./operation-handler.ts";
import { stateAt } from "./state-handlers.ts";
import { withSession } from "./with-session.ts";

/** What each operation on an agent's tasks does. */
export const TASK_HANDLERS: HandlersOf<Extract<OperationName, `task.${string}`>> = {
  "task.list": async ({ moment }, engine) => {
    const tasks = engine.agentStates.tasksOf(stateAt(moment, engine));
    return { tasks, next: nextTask(tasks)?.id ?? null };
  },

  "task.add": ({ session, title, id, after }, engine, client) =>
    withSession(session, engine, client, async (row) => {
      const tasks = engine.agentStates.tasksOf(row.agentState);
      const task = { id: id ?? nextNumber(tasks), title, dependsOn: after };
      return keep(row, task.id, parseTasks([...tasks, task]), engine);
    }),

  "task.begin": ({ session, task: asked }, engine, client) =>
    withSession(session, engine, client, async (row) => {
      const tasks = engine.agentStates.tasksOf(row.agentState);
      const id = asked ?? nextTask(tasks)?.id;
      if (id === undefined) return { task: null };
      return { task: keep(row, id, beginTask(tasks, id), engine) };
    }),

  "task.set": ({ session, task: id, status, note, append, state, ...rest }, engine, client) =>
    withSession(session, engine, client, async (row) => {
      const tasks = engine.agentStates.tasksOf(row.agentState);
      const notes = tasks.find((task) => task.id === id)?.notes ?? [];
      const change = {
        ...(status === undefined ? {} : { status }),
        ...(note === undefined ? {} : { notes: [...notes, note] }),
        ...("result" in rest ? { result: rest.result as Task["result"] } : {}),
      };
      const set = Object.entries(state).map(([key, value]) => [key, { value }] as const);
      const beside = { append, set: Object.fromEntries(set) };
      const task = keep(row, id, changeTask(tasks, id, change), engine, beside);
      if (status === "completed") engine.automatic.taskEnded(row.id, task.title || task.id);
      return task;
    }),
};

/** Keeps a task list, and what else of the state is to change with it, in one step. */
function keep(
  session: SessionRow,
  id: string,
  tasks: readonly Task[],
  engine: Engine,
  beside: Pick<StateChange, "set" | "append"> = { set: {}, append: {} },
): Task {
  refuseTasksBeside(beside);
  const set = { ...beside.set, [TASKS_KEY]: { value: tasks } };
  const root = changeState(session, { set, append: beside.append, remove: [] }, engine);
  // As it was kept: without what was taken out of it.
  return engine.agentStates.tasksOf(root).find((task) => task.id === id) as Task;
}

/** @throws USAGE_INVALID */
function refuseTasksBeside({ set, append }: Pick<StateChange, "set" | "append">): void {
  if (!Object.hasOwn(set, TASKS_KEY) && !Object.hasOwn(append, TASKS_KEY)) return;
  throw new WaypointError(
    "USAGE_INVALID",
    "The tasks are changed already by what is said of one.",
    {
      hint: "Add tasks with `waypoint task add`, or change the whole list with `waypoint state`.",
    },
  );
}

function nextNumber(tasks: readonly Task[]): string {
  const numbers = tasks.map(({ id }) => (/^\d{1,9}$/.test(id) ? Number(id) : 0));
  return String(Math.max(0, ...numbers) + 1);
}
