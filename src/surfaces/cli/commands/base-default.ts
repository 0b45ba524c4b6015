import { WaypointError } from "../../../shared/errors/index.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { printable } from "../text/printable.ts";

/** Chooses the base of sessions for which none is given. */
export async function run({
  context,
  args,
  options,
}: Invocation<{ none?: boolean }>): Promise<undefined> {
  const [name] = args;
  if ((name === undefined) !== (options.none === true)) {
    throw new WaypointError("USAGE_INVALID", "Which base is meant is not said.", {
      hint: "Give one that `waypoint base ls` lists, or --none for the host's own root.",
    });
  }
  const result = await call(context, "base.default", { base: name ?? null });
  await printResult(context, result, () => [
    name === undefined
      ? "New sessions stand on the host's own root"
      : `New sessions stand on the base ${printable(name)}`,
  ]);
}
