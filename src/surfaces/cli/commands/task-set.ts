import { call, type Invocation, printResult } from "../context.ts";
import { renderTask } from "../render-tasks.ts";

/** Says what became of a task. */
export async function run({ context, input }: Invocation<object, "task.set">): Promise<undefined> {
  await printResult(context, await call(context, "task.set", input), renderTask);
}
