import { call, type Invocation, printResult } from "../context.ts";
import { renderTask } from "../render-tasks.ts";

/** Adds a task to those of an agent. */
export async function run({ context, input }: Invocation<object, "task.add">): Promise<undefined> {
  await printResult(context, await call(context, "task.add", input), renderTask);
}
