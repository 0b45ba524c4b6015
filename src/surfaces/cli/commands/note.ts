import { WaypointError } from "../../../shared/errors/index.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { renderDecision } from "../render-decisions.ts";

/** Notes a decision, or what was learned. */
export async function run({ context, input }: Invocation<object, "note">): Promise<undefined> {
  if ((input.choice as string | undefined) === undefined) {
    throw new WaypointError("USAGE_INVALID", "What was decided is not said.", {
      hint: 'Give it with -m: `waypoint note web -m "SQLite is too slow"`.',
    });
  }
  const noted = await call(context, "note", input);
  await printResult(context, noted, (shown) => renderDecision(shown, context.nowMs));
}
