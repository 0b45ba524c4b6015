import { call, type Invocation, printLong } from "../context.ts";
import { renderTasks } from "../render-tasks.ts";

/** Lists an agent's tasks at any moment. */
export async function run({ context, input }: Invocation<object, "task.list">): Promise<undefined> {
  const result = await call(context, "task.list", input);
  await printLong(context, result, ({ tasks, next }) => renderTasks(tasks, next));
}
