/**
 * agent-state owns what an agent has beside its machine: a state of keys and values, each with the
 * version of the code that wrote it, the list of its tasks among them. It knows no session.
 */
export { AgentStates, type StateChange, type StateKey, type StateRoot } from "./agent-states.ts";
export { type Migrations, migrateState, type StateSchema } from "./migrate.ts";
export { redactorOf } from "./redact.ts";
export {
  beginTask,
  changeTask,
  nextTask,
  parseTasks,
  TASKS_KEY,
  type Task,
  type TaskChange,
} from "./tasks.ts";
