import { WaypointError } from "../../shared/errors/index.ts";
import type { Effect, EffectBegin, EffectEnd, EffectJournal, EffectOwner } from "./effect.ts";

/** Effects of one session: older ones are not forgotten, further ones are refused. */
const EFFECTS_MAX = 100_000;

/** What the rules have to know of the world. */
export interface EffectWorld {
  now: () => string;
  /** Whether a process lives; `null`: that is not known. */
  isAlive: (owner: EffectOwner) => boolean;
}

/** Whether to do it, or what came of it when it was done. */
export type Begun = { kind: "do"; attempt: number } | { kind: "recorded"; effect: Effect };

/**
 * Writes down that an effect is about to be done, unless it was done.
 *
 * One that failed is begun again: whoever did it said that it was not done. So is one that was taken back. Of one that was begun and not
 * ended nobody knows: it is begun again only when that was settled.
 *
 * @throws EFFECT_CONFLICT  it was begun with another input.
 * @throws EFFECT_RUNNING   whoever began it is still at it.
 * @throws EFFECT_UNKNOWN   whoever began it is gone, and nobody knows what became of it.
 */
export function beginEffect(
  journal: EffectJournal,
  begin: EffectBegin,
  { now, isAlive }: EffectWorld,
): Begun {
  const known = journal.get(begin.session, begin.key);
  if (known !== undefined && known.inputHash !== begin.inputHash) throw conflict(known);
  if (known?.state === "done") return { kind: "recorded", effect: known };
  if (known?.state === "begun" || known?.state === "compensating") {
    throw known.owner !== null && isAlive(known.owner) ? running(known) : unknown(known);
  }
  if (known === undefined && journal.of(begin.session).length >= EFFECTS_MAX) throw tooMany();
  const attempt = (known?.attempts ?? 0) + 1;
  journal.put({
    ...begin,
    ...({ state: "begun", attempts: attempt, endedAt: null, outcome: null } as const),
    ...{ compensationError: null, startedAt: now() },
  });
  return { kind: "do", attempt };
}

/**
 * Writes down what became of an effect. What is known already is not written over.
 *
 * @throws EFFECT_NOT_FOUND  it was not begun, or begun again since.
 */
export function endEffect(
  journal: EffectJournal,
  { session, key, attempt, state, outcome }: EffectEnd,
  { now }: Pick<EffectWorld, "now">,
): Effect {
  const known = journal.get(session, key);
  if (known === undefined || known.attempts !== attempt) throw notFound(key);
  if (known.state !== "begun") return known;
  const ended = { ...known, state, outcome, owner: null, endedAt: now() };
  journal.put(ended);
  return ended;
}

/**
 * Writes down what somebody found out about an effect of which nobody knew.
 *
 * @throws EFFECT_NOT_FOUND | EFFECT_RUNNING
 */
export function settleEffect(
  journal: EffectJournal,
  { session, key, state, outcome }: Omit<EffectEnd, "attempt">,
  { now, isAlive }: EffectWorld,
): Effect {
  const known = journal.get(session, key);
  if (known === undefined) throw notFound(key);
  if (known.owner !== null && isAlive(known.owner)) throw running(known);
  const settled = { ...known, state, outcome, owner: null, endedAt: now() };
  journal.put(settled);
  return settled;
}

/**
 * Writes down that an effect is about to be taken back.
 *
 * @throws EFFECT_NOT_FOUND  it was not done, or was taken back already.
 * @throws EFFECT_RUNNING | EFFECT_UNKNOWN
 */
export function beginCompensation(
  journal: EffectJournal,
  { session, key, owner }: Pick<Effect, "session" | "key" | "owner">,
  { isAlive }: Pick<EffectWorld, "isAlive">,
): Effect {
  const known = journal.get(session, key);
  if (known?.state === "begun" || known?.state === "compensating") {
    throw known.owner !== null && isAlive(known.owner) ? running(known) : unknown(known);
  }
  if (known?.state !== "done") throw notFound(key);
  const begun = { ...known, state: "compensating", owner, compensationError: null } as const;
  journal.put(begun);
  return begun;
}

/**
 * Writes down whether it was taken back: with an error it is still done.
 *
 * @throws EFFECT_NOT_FOUND  nobody has begun that.
 */
export function endCompensation(
  journal: EffectJournal,
  { session, key, error }: { session: string; key: string; error: string | null },
  { now }: Pick<EffectWorld, "now">,
): Effect {
  const known = journal.get(session, key);
  if (known?.state !== "compensating") throw notFound(key);
  const state = error === null ? "compensated" : "done";
  const endedAt = error === null ? now() : known.endedAt;
  const ended = { ...known, state, owner: null, compensationError: error, endedAt } as const;
  journal.put(ended);
  return ended;
}

function conflict({ key, what }: Effect): WaypointError {
  return new WaypointError(
    "EFFECT_CONFLICT",
    `Effect "${key}" (${what}) was begun with another input before.`,
    { hint: "Give what is to be done anew another key.", detail: { key } },
  );
}

function running({ key, what, startedAt, owner }: Effect): WaypointError {
  return new WaypointError("EFFECT_RUNNING", `Effect "${key}" (${what}) is being done.`, {
    hint: `Process ${owner?.pid} has begun it at ${startedAt}: wait for it, or end it first.`,
    detail: { key },
  });
}

function unknown({ key, what, startedAt }: Effect): WaypointError {
  return new WaypointError(
    "EFFECT_UNKNOWN",
    `Effect "${key}" (${what}) was begun at ${startedAt}, and nobody knows what became of it.`,
    {
      hint: "Look outside, then `waypoint effects settle SESSION KEY done`, or not-done; or give a recover function.",
      detail: { key },
    },
  );
}

function notFound(key: string): WaypointError {
  return new WaypointError(
    "EFFECT_NOT_FOUND",
    `There is no effect "${key}" of which that can be said.`,
    {
      hint: "`waypoint effects list SESSION` has what is known.",
      detail: { key },
    },
  );
}

function tooMany(): WaypointError {
  return new WaypointError("USAGE_INVALID", `A session has at most ${EFFECTS_MAX} effects.`, {
    hint: "Go on in a fork that starts without them.",
  });
}
