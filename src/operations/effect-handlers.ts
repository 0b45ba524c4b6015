import { effectsSince, effectWorldOf, tellEffect } from "../engine/effects/index.ts";
import type { Engine } from "../engine/ports/index.ts";
import {
  beginCompensation,
  beginEffect,
  endCompensation,
  endEffect,
  settleEffect,
} from "../portable/effects/index.ts";
import { requireOwnHistory, resolveCheckpoint, resolveSession } from "../portable/lineage/index.ts";
import type { CheckpointRow, SessionRow } from "../portable/model/index.ts";
import { WaypointError } from "../shared/errors/index.ts";
import type { OperationName } from "../shared/protocol/index.ts";
import type { HandlersOf } from "./operation-handler.ts";

/** Of one outcome; what is larger belongs into a file. */
const OUTCOME_CHARS_MAX = 1024 * 1024;

/**
 * What each operation on effects does. None takes the session's lease: what an agent does outside goes
 * on during a capture, and each step is one transaction.
 */
export const EFFECT_HANDLERS: HandlersOf<Extract<OperationName, `effect.${string}`>> = {
  "effect.list": async ({ session: reference, since }, engine) => {
    const session = resolveSession(reference, engine.catalog);
    const effects =
      since === undefined
        ? engine.effects.of(session.id)
        : effectsSince(session, checkpointOf(session, since, engine), engine);
    return { effects: effects.map((each) => tellEffect(each, engine)) };
  },

  "effect.begin": async (
    { session: reference, compensate = null, owner = null, ...told },
    engine,
  ) => {
    const session = resolveSession(reference, engine.catalog).id;
    const what = engine.redact(told.what);
    const begin = { ...told, what, compensate, owner, session };
    const begun = beginEffect(engine.effects, begin, effectWorldOf(engine));
    return begun.kind === "do"
      ? { attempt: begun.attempt, outcome: null }
      : { attempt: null, outcome: tellEffect(begun.effect, engine).outcome };
  },

  "effect.end": async ({ session: reference, key, attempt, outcome, error }, engine) => {
    const session = resolveSession(reference, engine.catalog).id;
    const end =
      error === undefined
        ? { state: "done" as const, outcome: keptOutcome(outcome, engine) }
        : { state: "failed" as const, outcome: engine.redact(error) };
    const ended = endEffect(
      engine.effects,
      { session, key, attempt, ...end },
      effectWorldOf(engine),
    );
    return tellEffect(ended, engine);
  },

  "effect.compensate": async ({ session: reference, key, stage, owner = null, error }, engine) => {
    const session = resolveSession(reference, engine.catalog).id;
    const world = effectWorldOf(engine);
    const why = stage === "done" ? null : engine.redact(error ?? "It failed.");
    const told =
      stage === "begin"
        ? beginCompensation(engine.effects, { session, key, owner }, world)
        : endCompensation(engine.effects, { session, key, error: why }, world);
    return tellEffect(told, engine);
  },

  "effect.settle": async ({ session: reference, key, found, outcome }, engine) => {
    const session = resolveSession(reference, engine.catalog).id;
    const end =
      found === "done"
        ? { state: "done" as const, outcome: keptOutcome(outcome, engine) }
        : { state: "failed" as const, outcome: "It was found not to be done." };
    return tellEffect(
      settleEffect(engine.effects, { session, key, ...end }, effectWorldOf(engine)),
      engine,
    );
  },
};

function checkpointOf(session: SessionRow, reference: string, { catalog }: Engine): CheckpointRow {
  const checkpoint = resolveCheckpoint(reference, catalog);
  requireOwnHistory(session, checkpoint, catalog);
  return checkpoint;
}

function keptOutcome(outcome: unknown, engine: Engine): string | null {
  if (outcome === undefined || outcome === null) return null;
  const text = JSON.stringify(engine.redactValue(outcome));
  if (text.length <= OUTCOME_CHARS_MAX) return text;
  throw new WaypointError("USAGE_INVALID", "The outcome of an effect has over 1 MiB.", {
    hint: "Return what names it, and keep the rest in a file of the session.",
  });
}
