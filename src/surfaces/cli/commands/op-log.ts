import { call, type Invocation, printLong } from "../context.ts";
import { renderOperations } from "../going-back/render-operations.ts";

/** Lists what was done to sessions and how to take it back. */
export async function run({ context, args }: Invocation): Promise<undefined> {
  const [session] = args;
  const log = await call(context, "op.log", session === undefined ? {} : { session });
  const { paint } = context.output;
  const render = ({ operations }: typeof log) =>
    renderOperations(operations, { nowMs: context.nowMs, paint });
  await printLong(context, log, render, { isNewestLast: true });
}
