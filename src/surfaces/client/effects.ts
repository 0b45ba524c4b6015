import { hasCode } from "../../shared/errors/index.ts";
import type { Effect } from "../../shared/protocol/index.ts";
import { callOperation } from "./call-operation.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { noteCompensation } from "./compensate.ts";
import { type CallControl, splitControl } from "./options.ts";
import { ownProcess } from "./own-process.ts";
import { checkpointRef } from "./require-arguments.ts";

/** What an effect is, and what is known of it. */
export interface EffectOptions<T> extends CallControl {
  /** What it is done with: the same key with another input is a conflict. @defaultValue null */
  input?: unknown;
  /** What it is, for people. @defaultValue the key */
  describe?: string;
  /** Nothing takes it back. @defaultValue false */
  irreversible?: boolean;
  /** What takes it back: a command line of the session, or a function of this program. */
  compensate?: string | ((outcome: T) => Promise<unknown>);
  /**
   * Finds out what became of it after a crash: its outcome where it was done, undefined where it was
   * not, and it is done again then. Without it such an effect is EFFECT_UNKNOWN.
   */
  recover?: () => Promise<{ outcome: T } | undefined>;
}

/** Which effects to list. */
export interface EffectListOptions extends CallControl {
  /** Only what began or ended after this checkpoint. */
  since?: string | Checkpoint;
}

/**
 * Does something to the outside world once. The intent is on the disk before `work` runs, its outcome
 * after; a key that was done returns its outcome, and `work` is not run.
 *
 * **On failure** of `work` the effect has failed, and the next call does it again.
 *
 * @throws EFFECT_CONFLICT | EFFECT_RUNNING | EFFECT_UNKNOWN, and what `work` throws.
 */
export async function doEffect<T>(
  stateDir: string,
  session: string,
  key: string,
  options: EffectOptions<T>,
  work: () => Promise<T>,
): Promise<T> {
  const { control, input: given } = splitControl(options);
  const { input = null, describe = key, recover, compensate, ...about } = given;
  if (typeof compensate === "function") {
    noteCompensation(session, key, (outcome) => compensate(outcome as T));
  }
  const { hashInput } = await import("../../portable/effects/index.ts");
  const owner = ownProcess();
  const request = {
    ...{ ...about, session, key, what: describe, inputHash: hashInput(input as never) },
    ...(typeof compensate === "string" ? { compensate } : {}),
    compensatedByProgram: typeof compensate === "function",
    ...(owner === null ? {} : { owner }),
  };
  const begin = () => callOperation(stateDir, "effect.begin", request, control);
  const { attempt, outcome } = await begin().catch(async (error: unknown) => {
    if (recover === undefined || !hasCode(error, "EFFECT_UNKNOWN")) throw error;
    const found = await recover();
    const request = { session, key, ...settlement(found ?? null) };
    await callOperation(stateDir, "effect.settle", request, control);
    return await begin();
  });
  if (attempt === null) return outcome as T;
  const end = (became: { outcome?: unknown; error?: string }) =>
    // What was done is told, whatever was cancelled meanwhile.
    callOperation(stateDir, "effect.end", { session, key, attempt, ...became });
  const done = await work().catch(async (error: unknown) => {
    await end({ error: String(error).slice(0, 10_000) });
    throw error;
  });
  return (await end({ outcome: done ?? null })).outcome as T;
}

/** Returns what was found out of an effect as the operation takes it. */
export function settlement(found: { outcome: unknown } | null) {
  return found === null
    ? ({ found: "not-done" } as const)
    : ({ found: "done", outcome: found.outcome ?? null } as const);
}

/** Returns a session's effects, in the order in which they were first begun. */
export async function listEffects(
  stateDir: string,
  session: string,
  options: EffectListOptions,
): Promise<Effect[]> {
  const { since, ...control } = options;
  const request = { session, ...(since === undefined ? {} : { since: checkpointRef(since) }) };
  return (await callOperation(stateDir, "effect.list", request, control)).effects;
}
