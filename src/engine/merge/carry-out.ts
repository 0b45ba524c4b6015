import { closeSync, constants } from "node:fs";
import { isSystemError, toText } from "../../base/index.ts";
import { openBelow, syncFilesystem } from "../../linux/kernel/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import type { CopyJob } from "../files/index.ts";
import { commitStep, finishStep, isCommitted, requireUnwritten, revertStep } from "./commit.ts";
import type { Journal, JournalRecord, KeptStep } from "./journal.ts";
import type { Plan } from "./plan.ts";
import { Changed, placeSteps, stageStep } from "./stage.ts";
import type { Target } from "./target.ts";

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
 * First everything is made beside the files and the old versions are copied to the store, then all
 * take their places. **On failure**, and when somebody has changed a path meanwhile, all is put
 * back. After a crash {@link resume} completes it and {@link putBack} puts it back.
 *
 * @throws APPLY_CONFLICT  somebody has changed a path meanwhile.
 * @throws STORE_FULL | FILE_FAILED | CANCELLED
 */
export async function carryOut(options: CarryOutOptions): Promise<JournalRecord> {
  const { record, plan, target, journal, job, sync } = options;
  const placed = placeSteps(plan, target, record.id);
  let current: JournalRecord = {
    ...{ ...record, state: "staging" },
    steps: placed.map(({ merged: _merged, ...kept }) => kept),
  };
  let begunCount = 0;
  await journal.make(record.id);
  try {
    await journal.write(current);
    const context = { target, job, journal, id: record.id };
    const staged = new Map<string, KeptStep["stage"]>();
    const steps: KeptStep[] = [];
    for (const step of placed) steps.push(await stageStep(step, staged, context));
    await sync();
    await syncTarget(target);
    current = { ...current, steps, state: "committing" };
    await journal.write(current);
    for (const step of steps) {
      job.throwIfGone();
      begunCount += 1;
      await commitStep(step, target).catch((error: unknown) => {
        // What somebody has changed before its turn is as they have left it.
        if (error instanceof Changed) begunCount -= 1;
        throw error;
      });
    }
    requireUnwritten(steps, target);
    // From here on nothing stops it: a client that leaves would leave it for nobody.
  } catch (error) {
    const left = await putBack(current, target, begunCount);
    if (left.length === 0) await journal.remove(record.id);
    else await journal.write({ ...current, state: "put-back" });
    throw explain(error, left.length === 0 ? PUT_BACK : putBackBut(left));
  }
  return await complete(current, target, journal);
}

/** Completes what a crash has interrupted. **Requires** the state `committing` or `finishing`. */
export async function resume(
  record: JournalRecord,
  target: Target,
  journal: Journal,
): Promise<JournalRecord> {
  if (record.state === "committing") {
    try {
      for (const step of record.steps) {
        if (!(await isCommitted(step, target))) await commitStep(step, target);
      }
      requireUnwritten(record.steps, target);
    } catch (error) {
      throw explain(error, STAYS);
    }
  }
  return await complete(record, target, journal);
}

async function complete(
  record: JournalRecord,
  target: Target,
  journal: Journal,
): Promise<JournalRecord> {
  await syncTarget(target);
  await journal.write({ ...record, state: "finishing" });
  for (const step of record.steps) await finishStep(step, target);
  return { ...record, state: "done" };
}

/**
 * Puts everything back that was done, also where only some of it was.
 *
 * @param begunCount  how many of the steps may have been carried out; all of them after a crash.
 * @returns what stays as it is, since somebody has changed it since.
 */
export async function putBack(
  record: JournalRecord,
  target: Target,
  begunCount = record.state === "staging" ? 0 : record.steps.length,
): Promise<{ path: string; reason: string }[]> {
  const left: { path: string; reason: string }[] = [];
  for (const [index, step] of [...record.steps.entries()].toReversed()) {
    // What was only staged has nothing of its own in place yet.
    const isBegun = index < begunCount;
    const reason = isBegun ? await revertStep(step, target) : await removeStaged(step, target);
    if (reason !== null) left.push({ path: `/${toText(step.path)}`, reason });
  }
  return left;
}

async function removeStaged(step: KeptStep, target: Target): Promise<null> {
  if (step.kind === "write") await finishStep(step, target);
  return null;
}

async function syncTarget({ rootFd }: Target): Promise<void> {
  const fd = openBelow(rootFd, Buffer.from("."), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await syncFilesystem(fd);
  } finally {
    closeSync(fd);
  }
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
  if (hasCode(error, "CANCELLED")) {
    return new WaypointError("CANCELLED", `The operation was cancelled; ${outcome}.`);
  }
  if (error instanceof WaypointError || !(error instanceof Error) || !("code" in error)) {
    return error;
  }
  const detail = { reason: error.message };
  if (isSystemError(error, "ENOSPC", "EDQUOT")) {
    return new WaypointError("STORE_FULL", `There is no room left for the new files; ${outcome}.`, {
      hint: "Free space where the files go, and in the store, which keeps the old ones for undo.",
      ...{ detail, cause: error },
    });
  }
  const what = isSystemError(error, "EROFS")
    ? "The files go to a filesystem that is read-only"
    : "The kernel refused to write";
  return new WaypointError("FILE_FAILED", `${what}; ${outcome}.`, {
    hint: "The detail has the kernel's reason. Network and FAT filesystems cannot exchange two files.",
    ...{ detail, cause: error },
  });
}
