import type { EffectOwner, Effect as JournalEffect } from "../../portable/effects/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { Effect } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";

/** Returns a session's effects that began or ended after a checkpoint, oldest first. */
export function effectsSince(
  { id }: SessionRow,
  { createdAt }: Pick<CheckpointRow, "createdAt">,
  { effects }: Engine,
): JournalEffect[] {
  // Instants are written alike, so their texts are in order as they are.
  return effects
    .of(id)
    .filter(({ startedAt, endedAt }) => startedAt > createdAt || (endedAt ?? "~") > createdAt);
}

/** Returns an effect as the outside sees it. */
export function tellEffect(effect: JournalEffect, engine: Engine): Effect {
  const { session: _, inputHash: _h, owner, state, outcome, ...shown } = effect;
  const isRunning = owner !== null && effectWorldOf(engine).isAlive(owner);
  return {
    ...shown,
    state:
      state !== "begun" && state !== "compensating" ? state : isRunning ? "running" : "unknown",
    outcome: state === "done" && outcome !== null ? JSON.parse(outcome) : null,
    error: state === "failed" ? outcome : null,
  };
}

/** Returns what the rules of effects have to know of this machine. */
export function effectWorldOf({ sandbox }: Pick<Engine, "sandbox">) {
  return {
    now: () => new Date().toISOString(),
    isAlive: ({ pid, startTicks }: EffectOwner) => sandbox.startTicks(pid) === startTicks,
  };
}
