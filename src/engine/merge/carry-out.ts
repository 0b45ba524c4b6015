import { toText } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import {
  Changed,
  carryOut as carryOutChanges,
  commitRest,
  explainFailure,
  finish,
  PutBack,
  putBack as putBackChanges,
  type SkippedChange,
  type StagedChange,
  type Target,
} from "../changes/index.ts";
import type { CopyJob } from "../files/index.ts";
import type { Journal, JournalRecord, KeptStep } from "./journal.ts";
import type { Plan, Step } from "./plan.ts";

/** What is carried out, and for whom. */
export interface CarryOutOptions {
  record: Omit<JournalRecord, "steps" | "state">;
  plan: Plan;
  target: Target;
  journal: Journal;
  job: CopyJob;
  /** Brings the store to the disk. */
  sync: () => Promise<void>;
}

/**
 * Carries out a plan: each file is the old one or the new one at every moment.
 *
 * **On failure**, and when somebody has changed a path meanwhile, all is put back. After a crash
 * {@link resume} completes it and {@link putBack} puts it back.
 *
 * @throws APPLY_CONFLICT  somebody has changed a path meanwhile.
 * @throws STORE_FULL | FILE_FAILED | CANCELLED
 */
export async function carryOut(options: CarryOutOptions): Promise<JournalRecord> {
  const { record, plan, target, journal, job, sync } = options;
  const { id } = record;
  let current: JournalRecord = { ...record, state: "staging", steps: [] };
  const note = async (state: JournalRecord["state"], steps: readonly StagedChange[]) => {
    current = { ...current, state, steps: (steps as (Step & KeptStep)[]).map(withoutContent) };
    await journal.write(current);
  };
  const keeper = { ...journal.filesOf(id), note, sync };
  await journal.make(id);
  try {
    await carryOutChanges(plan.steps, { target, job, id, keeper, meanwhile: "refuse" });
    return { ...current, state: "done" };
  } catch (error) {
    if (!(error instanceof PutBack)) throw error;
    const left = error.left.map(describeLeft);
    if (left.length === 0) await journal.remove(id);
    else await journal.write({ ...current, state: "put-back" });
    throw explain(error.cause, left.length === 0 ? PUT_BACK : putBackBut(left));
  }
}

/** Completes what a crash has interrupted. **Requires** the state `committing` or `finishing`. */
export async function resume(
  record: JournalRecord,
  target: Target,
  journal: Journal,
): Promise<JournalRecord> {
  if (record.state === "committing") {
    await commitRest(record.steps, target).catch((error: unknown) => {
      throw explain(error, STAYS);
    });
  }
  await finish(record.steps, target, {
    note: () => journal.write({ ...record, state: "finishing" }),
  });
  return { ...record, state: "done" };
}

/**
 * Puts everything back that was done, also where only some of it was.
 *
 * @returns what stays as it is, since somebody has changed it since.
 */
export async function putBack(
  { state, steps }: JournalRecord,
  target: Target,
): Promise<{ path: string; reason: string }[]> {
  // What was only staged has nothing of its own in place yet.
  const begun = state === "staging" ? [] : steps;
  const pending = state === "staging" ? steps : [];
  return (await putBackChanges({ begun, pending }, target)).map(describeLeft);
}

function withoutContent({ merged: _merged, ...kept }: Step & KeptStep): KeptStep {
  return kept;
}

function describeLeft({ path, reason }: SkippedChange): { path: string; reason: string } {
  return { path: `/${toText(path)}`, reason };
}

/** What became of all the rest, and what to do. */
const PUT_BACK = { outcome: "all was put back", hint: "Run it again: the plan is made anew." };
const putBackBut = ([first]: { path: string }[]) => ({
  outcome: `all was put back but what somebody has changed since, ${first?.path} for one`,
  hint: PUT_BACK.hint,
});
const STAYS = { outcome: "the rest waits", hint: "`waypoint apply --abort` puts all back." };

function explain(error: unknown, { outcome, hint } = PUT_BACK): unknown {
  if (error instanceof Changed) {
    const path = `/${toText(error.path)}`;
    return new WaypointError("APPLY_CONFLICT", `${path} was changed meanwhile; ${outcome}.`, {
      hint,
      detail: { conflicts: [{ path, kind: "both-changed", why: "changed meanwhile" }], total: 1 },
    });
  }
  return explainFailure(error, outcome);
}
