import { WaypointError } from "../../../shared/errors/index.ts";
import type { Browse } from "../../../shared/protocol/index.ts";
import { type CommandContext, call, type Invocation, note, printResult } from "../context.ts";
import { printable } from "../text/printable.ts";
import { formatAge } from "../text/quantities.ts";
import { layoutTable } from "../text/table.ts";

interface BrowseOptions {
  list?: boolean;
  end?: string;
}

const COLUMNS = ["ID", "MOMENT", "SINCE", "DIRECTORY"].map((title) => ({ title }));

/** Mounts the files of a moment, lists what is mounted, or ends it. */
export async function run({
  context,
  args,
  options,
}: Invocation<BrowseOptions>): Promise<undefined> {
  const [moment, directory] = args;
  if (options.list) await list(context);
  else if (options.end !== undefined) await end(context, options.end);
  else if (moment === undefined) throw nothingSaid();
  else await begin(context, moment, directory);
}

async function begin(
  context: CommandContext,
  moment: string,
  directory: string | undefined,
): Promise<void> {
  const { resolve } = process.getBuiltinModule("node:path");
  const given = directory === undefined ? {} : { directory: resolve(directory) };
  const browse = await call(context, "browse", { moment, ...given });
  for (const bind of browse.bindsLeftOut) note(context, `Not captured, because bound: ${bind}`);
  await printResult(context, browse, ({ path }) => [printable(path)]);
}

async function list(context: CommandContext): Promise<void> {
  const result = await call(context, "browse.list", {});
  await printResult(context, result, ({ browses }) => renderBrowses(browses, context.nowMs));
}

async function end(context: CommandContext, which: string): Promise<void> {
  const { resolve } = process.getBuiltinModule("node:path");
  const isPath = which.includes("/");
  const result = await call(context, "browse.end", { which: isPath ? resolve(which) : which });
  await printResult(context, result, ({ ended }) =>
    ended.map(({ moment, path }) => `Unmounted ${printable(moment)} from ${printable(path)}.`),
  );
}

function renderBrowses(browses: readonly Browse[], nowMs: number): string[] {
  if (browses.length === 0) return ["Nothing is browsed."];
  const rows = browses.map(({ id, moment, since, path }) => [
    ...[id, printable(moment), `${formatAge(since, nowMs)} ago`, printable(path)],
  ]);
  return layoutTable(COLUMNS, rows);
}

function nothingSaid(): WaypointError {
  return new WaypointError("USAGE_INVALID", "Which moment is to be browsed?", {
    hint: "For instance `waypoint browse web@~1`; --list shows what is mounted.",
  });
}
