import { call, type Invocation, printResult } from "../context.ts";
import { isDifferent, renderDiff } from "../diff/render-diff.ts";

interface DiffOptions {
  stat?: boolean;
  nameOnly?: boolean;
  expand?: boolean;
}

/** Exit code when the two moments differ, as diff(1) has it. */
const EXIT_CODE_DIFFERENT = 1;

/** Shows what differs between two moments. */
export async function run({
  context,
  args,
  options,
}: Invocation<DiffOptions>): Promise<number | undefined> {
  const [from = "", to = "", path] = args;
  const { stat = false, nameOnly = false, expand = false } = options;
  const style = nameOnly ? "names" : stat ? "stat" : "patches";
  const result = await call(context, "diff", {
    ...{ from, to, expand, patch: style === "patches" },
    ...(path === undefined ? {} : { path }),
  });
  const { paint } = context.output;
  await printResult(context, result, (shown) =>
    renderDiff(shown, { style, isBelowPath: path !== undefined, paint }),
  );
  return isDifferent(result) ? EXIT_CODE_DIFFERENT : undefined;
}
