import type { OperationInput } from "../../../shared/protocol/index.ts";
import { findBaseChanges, renderBaseChanges, withBaseChanges } from "../base-changes.ts";
import { call, type Invocation, printLong } from "../context.ts";
import { isDifferent, renderDiff } from "../diff/render-diff.ts";
import { EXIT_CODE_DIFFERENT } from "../exit-codes.ts";

interface DiffOptions {
  baseChanges?: boolean;
  stat?: boolean;
  nameOnly?: boolean;
}

/** Shows what differs between two moments. */
export async function run({
  context,
  options: { stat = false, nameOnly = false, baseChanges = false },
  input: typed,
}: Invocation<DiffOptions, "diff">): Promise<number | undefined> {
  const input = withPath(typed);
  const { path, sections } = input;
  const style = nameOnly ? "names" : stat ? "stat" : "patches";
  const result = await call(context, "diff", { ...input, patch: style === "patches" });
  const { paint } = context.output;
  const changed = await findBaseChanges(context, result.from, baseChanges, absolute(path));
  await printLong(context, withBaseChanges(result, changed), (shown) => [
    ...renderDiff(shown, { style, isBelowPath: path !== undefined, sections, paint }),
    ...(nameOnly ? [] : renderBaseChanges(changed, context.nowMs)),
  ]);
  return isDifferent(result, sections) ? EXIT_CODE_DIFFERENT : undefined;
}

/** Where a relative path begins, only the session knows: then all of the base is told. */
function absolute(path: string | undefined): string | undefined {
  return path?.startsWith("/") === true ? path : undefined;
}

/** What begins with a slash or a dot is no name: the path of `diff work ./src`. */
function withPath(input: OperationInput<"diff">): OperationInput<"diff"> {
  const { to, path, ...rest } = input;
  const isPath = path === undefined && to !== undefined && /^[./]/.test(to);
  return isPath ? { ...rest, path: to } : input;
}
