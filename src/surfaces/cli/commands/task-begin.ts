import { call, type Invocation, printResult } from "../context.ts";
import { renderTask } from "../render-tasks.ts";

/** Begins a task, or the next one. */
export async function run({
  context,
  input,
}: Invocation<object, "task.begin">): Promise<undefined> {
  const result = await call(context, "task.begin", input);
  await printResult(context, result, ({ task }) =>
    task === null ? ["No task is left."] : renderTask(task),
  );
}
