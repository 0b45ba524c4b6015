import type { EffectOwner, Effect as JournalEffect } from "../../portable/effects/index.ts";
import type { CheckpointRow, OperationRow, SessionRow } from "../../portable/model/index.ts";
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

/** Effects that one checkpoint tells of. */
const EFFECTS_TOLD_MAX = 100;
/** What makes a session go on from an earlier moment, in place of what it had done since. */
const GOING_BACK: readonly OperationRow["kind"][] = ["restore", "undo", "recover", "fork"];

/**
 * Returns what an agent did outside between a checkpoint's parent and it, as it is known now. What was
 * done before the session went back, or in another one that it was forked from, is not on its way.
 */
export function effectsBefore(
  { session, parent, createdAt }: CheckpointRow,
  engine: Engine,
): { effects: Effect[]; effectsCount: number } {
  const { catalog, effects } = engine;
  const moves = catalog.operations
    .all(session)
    .filter(
      ({ kind, at, detail }) =>
        // What leaves a moment that is held may be noted in the same millisecond as that.
        at < createdAt && GOING_BACK.includes(kind) && !isBesideMachine(detail?.parts?.only),
    )
    .map(({ at }) => at);
  const begun = parent === null ? "" : (catalog.checkpoint(parent)?.createdAt ?? "");
  // Instants are written alike, so their texts are in order as they are.
  const since = [begun, ...moves].toSorted().at(-1) ?? "";
  const isOnWay = (instant: string | null) =>
    instant !== null && instant > since && instant <= createdAt;
  const done = effects
    .of(session)
    .filter(({ startedAt, endedAt }) => isOnWay(startedAt) || isOnWay(endedAt));
  const last = done.slice(-EFFECTS_TOLD_MAX).map((each) => tellEffect(each, engine));
  return { effects: last, effectsCount: done.length };
}

/** Files or the agent's state were put back under a machine that went on. */
function isBesideMachine(only: string | null | undefined): boolean {
  return only === "files" || only === "state";
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
