import type { AutoPolicy } from "../../shared/protocol/index.ts";
import { quickChanges } from "../checkpoint/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import type { Trigger } from "./trigger.ts";

/** Tells whether there is something to capture: a look around is no change. */
export async function isWorthCapturing(
  { cause, mayHaveChangedShell }: Trigger,
  policy: AutoPolicy,
  live: LiveInstance,
  engine: Engine,
): Promise<boolean> {
  if (cause === "task" || mayHaveChangedShell) return true;
  if (cause === "command" && policy.commands === "each") return true;
  const { hasChanged, hasRun } = await quickChanges(live, engine);
  return hasChanged || (cause === "every" && hasRun);
}
