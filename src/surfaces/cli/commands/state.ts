import { WaypointError } from "../../../shared/errors/index.ts";
import type { StateSummary } from "../../../shared/protocol/index.ts";
import { type CommandContext, call, callStream, type Invocation, printResult } from "../context.ts";
import { printable, printableLines } from "../text/printable.ts";
import { formatSize } from "../text/quantities.ts";
import { layoutTable } from "../text/table.ts";

const COLUMNS = [{ title: "KEY" }, { title: "ITEMS" }, { title: "SIZE" }, { title: "SCHEMA" }];

interface StateOptions {
  set?: Record<string, unknown>;
  append?: Record<string, unknown>;
  remove?: string[];
  schema?: { name: string; version: number };
  ifVersion?: string;
}

/** Shows an agent's state or a value of it, or changes it. */
export async function run({
  context,
  input: { moment, key },
  options,
}: Invocation<StateOptions, "state">): Promise<undefined> {
  const { set, append, remove } = options;
  if ((set ?? append ?? remove) !== undefined) {
    if (key !== undefined) throw refused("A change names its keys itself.");
    const summary = await call(context, "state.set", { ...changeOf(options), session: moment });
    await printResult(context, summary, renderKeys);
    return;
  }
  if (options.schema !== undefined || options.ifVersion !== undefined) {
    throw refused("Nothing is to be changed.");
  }
  if (key === undefined) {
    const { value: _, ...summary } = await call(context, "state", { moment });
    await printResult(context, summary, renderKeys);
    return;
  }
  await printValue(context, moment, key);
}

function changeOf({ set = {}, append = {}, remove = [], schema, ifVersion }: StateOptions) {
  const about = schema === undefined ? {} : { schema };
  const entries = Object.entries(set).map(([key, value]) => [key, { value, ...about }] as const);
  const lists = Object.entries(append).map(
    ([key, given]) => [key, Array.isArray(given) ? given : [given]] as const,
  );
  return {
    set: Object.fromEntries(entries),
    append: Object.fromEntries(lists),
    remove,
    ...(ifVersion === undefined ? {} : { ifVersion: ifVersion === "none" ? null : ifVersion }),
  };
}

function refused(message: string): WaypointError {
  return new WaypointError("USAGE_INVALID", message, {
    hint: "`waypoint state SESSION --set KEY=JSON`, or --append KEY=JSON, or --remove KEY.",
  });
}

/** Prints a value as it comes: as JSON, in whose texts control characters are escaped. */
async function printValue(context: CommandContext, moment: string, key: string): Promise<void> {
  const pieces: Uint8Array[] = [];
  const result = await callStream(context, "state", { moment, key }, async (stream) => {
    for await (const event of stream) if (event.kind !== "notice") pieces.push(event.bytes);
    return await stream.result;
  });
  const value: unknown = JSON.parse(Buffer.concat(pieces).toString());
  if (context.isJson) {
    await context.output.json({ ...result.value, value });
    return;
  }
  await context.output.text(`${printableLines(JSON.stringify(value, null, 2))}\n`);
}

function renderKeys({ keys }: StateSummary): string[] {
  if (keys.length === 0) return ["The agent has no state."];
  const rows = keys.map(({ key, schema, bytes, items }) => [
    printable(key),
    items === null ? "" : items === 1 ? "1 item" : `${items} items`,
    formatSize(bytes),
    schema === null ? "" : printable(`${schema.name}@${schema.version}`),
  ]);
  return layoutTable(COLUMNS, rows);
}
