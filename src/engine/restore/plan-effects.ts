import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { RestoreParts, RestorePlan } from "../../shared/protocol/index.ts";
import { effectsSince, tellEffect } from "../effects/index.ts";
import type { Engine } from "../ports/index.ts";

const EFFECTS_MAX = 100;

/** Returns what the agent did outside since a checkpoint, which no restore takes back. */
export function planEffects(
  session: SessionRow,
  checkpoint: CheckpointRow,
  { only }: RestoreParts,
  engine: Engine,
): Pick<RestorePlan, "effects" | "effectsCount"> {
  const since = only === "files" ? [] : effectsSince(session, checkpoint, engine);
  const last = since.slice(-EFFECTS_MAX);
  return { effects: last.map((each) => tellEffect(each, engine)), effectsCount: since.length };
}
