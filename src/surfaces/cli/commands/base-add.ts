import { WaypointError } from "../../../shared/errors/index.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { printable } from "../text/printable.ts";
import { formatSize } from "../text/quantities.ts";

/** Keeps a copy of a root filesystem. */
export async function run({
  context,
  options,
  input,
}: Invocation<{ fromHost?: boolean }, "base.add">): Promise<undefined> {
  const given: string | undefined = input.from;
  const from = options.fromHost === true ? "/" : given;
  if (from === undefined || (options.fromHost === true && given !== undefined)) {
    throw new WaypointError("USAGE_INVALID", "What the base is a copy of is not said.", {
      hint: "Give --from-host for this machine, or --from with a directory or an archive.",
    });
  }
  const base = await call(context, "base.add", { ...input, from });
  await printResult(context, base, (added) => [
    `Base ${printable(added.name)} is kept: ${formatSize(added.sizeBytes ?? 0)}, from ${printable(from)}`,
    `Start a session on it with \`waypoint new --base ${printable(added.name)}\`.`,
  ]);
}
