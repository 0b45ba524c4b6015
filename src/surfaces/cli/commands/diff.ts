import type { ChangesSection } from "../../../shared/protocol/index.ts";
import { call, type Invocation, printLong } from "../context.ts";
import { isDifferent, renderDiff } from "../diff/render-diff.ts";
import { EXIT_CODE_DIFFERENT } from "../exit-codes.ts";

interface DiffOptions {
  stat?: boolean;
  nameOnly?: boolean;
  expand?: boolean;
  section?: ChangesSection[];
}

/** Shows what differs between two moments. */
export async function run({
  context,
  args,
  options,
}: Invocation<DiffOptions>): Promise<number | undefined> {
  const [from = "", to = "", path] = args;
  const { stat = false, nameOnly = false, expand = false, section: sections } = options;
  const style = nameOnly ? "names" : stat ? "stat" : "patches";
  const result = await call(context, "diff", {
    ...{ from, to, expand, patch: style === "patches" },
    ...(path === undefined ? {} : { path }),
    ...(sections === undefined ? {} : { sections }),
  });
  const { paint } = context.output;
  await printLong(context, result, (shown) =>
    renderDiff(shown, { style, isBelowPath: path !== undefined, sections, paint }),
  );
  return isDifferent(result, sections) ? EXIT_CODE_DIFFERENT : undefined;
}
