/**
 * agent-state owns what an agent has beside its machine: the list of its tasks, and states that carry
 * the version of the code that wrote them. It keeps nothing itself: lists come in, lists go out.
 */
export { type Migrations, migrateState, type StateSchema } from "./migrate.ts";
export {
  beginTask,
  changeTask,
  nextTask,
  parseTasks,
  type Task,
  type TaskChange,
} from "./tasks.ts";
