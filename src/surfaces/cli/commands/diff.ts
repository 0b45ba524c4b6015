import type { OperationInput } from "../../../shared/protocol/index.ts";
import { call, type Invocation, printLong } from "../context.ts";
import { isDifferent, renderDiff } from "../diff/render-diff.ts";
import { EXIT_CODE_DIFFERENT } from "../exit-codes.ts";

interface DiffOptions {
  stat?: boolean;
  nameOnly?: boolean;
}

/** Shows what differs between two moments. */
export async function run({
  context,
  options: { stat = false, nameOnly = false },
  input: typed,
}: Invocation<DiffOptions, "diff">): Promise<number | undefined> {
  const input = withPath(typed);
  const { path, sections } = input;
  const style = nameOnly ? "names" : stat ? "stat" : "patches";
  const result = await call(context, "diff", { ...input, patch: style === "patches" });
  const { paint } = context.output;
  await printLong(context, result, (shown) =>
    renderDiff(shown, { style, isBelowPath: path !== undefined, sections, paint }),
  );
  return isDifferent(result, sections) ? EXIT_CODE_DIFFERENT : undefined;
}

/** What begins with a slash or a dot is no name: the path of `diff work ./src`. */
function withPath(input: OperationInput<"diff">): OperationInput<"diff"> {
  const { to, path, ...rest } = input;
  const isPath = path === undefined && to !== undefined && /^[./]/.test(to);
  return isPath ? { ...rest, path: to } : input;
}
