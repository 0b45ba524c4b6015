import type { CopyJob } from "../files/index.ts";
import { Pace } from "../moment/index.ts";
import { type Change, Changed, type Stage, type StagedChange } from "./change.ts";
import { commitChange, commitLatest, requireUnwritten } from "./commit.ts";
import { isCommitted, removeStaged, revertChange } from "./revert.ts";
import { type KeptFiles, placeChanges, stageChange, syncTarget } from "./stage.ts";
import type { Target, TargetPath } from "./target.ts";

/** How far it is, for who comes after a crash: see {@link carryOut}. */
export type Progress = "staging" | "committing" | "finishing";

/** What is kept of changes for after a crash, and to take them back later. */
export interface Keeper extends KeptFiles {
  /** Writes down how far it is: on the disk when it returns. */
  note: (progress: Progress, changes: readonly StagedChange[]) => Promise<void>;
  /** Brings what was kept to the disk. */
  sync: () => Promise<void>;
}

/** Where changes are carried out, and how. */
export interface CarryOutOptions {
  target: Target;
  job: CopyJob;
  /** Names what is made beside the paths. */
  id: string;
  /** `null` where a crash ends the target, too, and another way back is kept. */
  keeper: Keeper | null;
  /**
   * What somebody does to the paths meanwhile: `refuse` puts all back, so that nothing of it is
   * lost; `replace` goes on, and leaves out what is of another kind now.
   */
  meanwhile: "refuse" | "replace";
}

/** A path that stays as it is when all else is put back, since somebody has changed it since. */
export interface SkippedChange {
  path: TargetPath;
  reason: string;
}

/** Thrown where changes were not carried out; `cause` has why, `left` what could not be put back. */
export class PutBack extends Error {
  readonly left: readonly SkippedChange[];

  constructor(cause: unknown, left: readonly SkippedChange[]) {
    super("The changes were put back.", { cause });
    this.left = left;
  }
}

/**
 * Carries out changes, in their order: each path is the old or the new one at every moment, and no
 * link is followed on the way to it.
 *
 * First all is made beside the paths (`staging`), then each takes its place in one step
 * (`committing`), then what was replaced is removed (`finishing`). After a crash {@link commitRest}
 * and {@link finish} go on, or {@link putBack} takes it back.
 *
 * **Requires** that they can be done in this order: what is in a directory goes before it.
 * **On failure** all that was done is put back.
 *
 * @returns the changes that were carried out, each as it was.
 * @throws PutBack
 */
export async function carryOut<C extends Change>(
  changes: readonly C[],
  options: CarryOutOptions,
): Promise<(C & { stage: Stage })[]> {
  const { target, id, keeper, meanwhile } = options;
  /** What may have been done, and what has at most something beside its path. */
  const state: State<C> = { begun: [], pending: placeChanges(changes, target, id) };
  try {
    await keeper?.note("staging", state.pending);
    state.pending = await stageAll(state.pending, options);
    if (keeper !== null) {
      await keeper.sync();
      await syncTarget(target);
      await keeper.note("committing", state.pending);
    }
    await commitAll(state, options);
    if (meanwhile === "refuse") requireUnwritten(state.begun, target);
    // From here on nothing stops it: a client that leaves would leave it for nobody.
  } catch (error) {
    throw new PutBack(error, await putBack(state, target));
  }
  await finish(state.begun, target, keeper);
  return state.begun;
}

interface State<C extends Change> {
  begun: (C & { stage: Stage })[];
  pending: (C & { stage: Stage })[];
}

async function stageAll<C extends Change>(
  changes: readonly (C & { stage: Stage })[],
  { target, job, keeper, meanwhile }: CarryOutOptions,
): Promise<(C & { stage: Stage })[]> {
  const context = { target, job, kept: keeper, isSure: meanwhile === "refuse" };
  const staged = new Map<string, Stage>();
  const made: (C & { stage: Stage })[] = [];
  for (const change of changes) {
    try {
      made.push(await stageChange(change, staged, context));
    } catch (error) {
      await leaveOut(change, error, { target, job, meanwhile });
    }
  }
  return made;
}

async function commitAll<C extends Change>(
  state: State<C>,
  { target, job, meanwhile }: CarryOutOptions,
): Promise<void> {
  const pace = new Pace(new AbortController().signal);
  const commit = meanwhile === "refuse" ? commitAsSeen : commitLatest;
  state.pending.reverse();
  while (state.pending.length > 0) {
    await pace.yieldOften();
    job.throwIfGone();
    const change = state.pending.pop() as C & { stage: Stage };
    try {
      state.begun.push(await commit(change, target));
    } catch (error) {
      // What somebody has changed before its turn is as they have left it; of all else nothing is known.
      if (!(error instanceof Changed)) state.begun.push(change);
      await leaveOut(change, error, { target, job, meanwhile });
    }
  }
}

async function commitAsSeen<C extends StagedChange>(change: C, target: Target): Promise<C> {
  await commitChange(change, target);
  return change;
}

/** Leaves out a change whose path somebody has changed. @throws `error`, where that is refused. */
async function leaveOut(
  change: StagedChange,
  error: unknown,
  { target, job, meanwhile }: Pick<CarryOutOptions, "target" | "job" | "meanwhile">,
): Promise<void> {
  if (!(error instanceof Changed)) throw error;
  await removeMade(change, target);
  if (meanwhile === "refuse") throw error;
  job.leaveOut(`/${change.path}`, error.reason);
}

/** Removes what was made for a change that was not carried out; what is beside a deleted path is old. */
async function removeMade(change: StagedChange, target: Target): Promise<void> {
  if (change.kind !== "delete") await removeStaged(change, target);
}

/** Carries out what a crash has left. @throws Changed */
export async function commitRest(changes: readonly StagedChange[], target: Target): Promise<void> {
  for (const change of changes) {
    if (!(await isCommitted(change, target))) await commitChange(change, target);
  }
  requireUnwritten(changes, target);
}

/** Removes what was replaced, of changes that all were carried out. */
export async function finish(
  changes: readonly StagedChange[],
  target: Target,
  keeper: Pick<Keeper, "note"> | null,
): Promise<void> {
  if (keeper !== null) {
    await syncTarget(target);
    await keeper.note("finishing", changes);
  }
  for (const change of changes) {
    if (change.kind !== "attributes") await removeStaged(change, target);
  }
}

/**
 * Puts everything back that was done, also where only some of it was.
 *
 * @param begun    what may have been carried out.
 * @param pending  what has at most something beside its path.
 * @returns what stays as it is, since somebody has changed it since.
 */
export async function putBack(
  { begun, pending }: { begun: readonly StagedChange[]; pending: readonly StagedChange[] },
  target: Target,
): Promise<SkippedChange[]> {
  for (const change of pending) await removeMade(change, target);
  const left: SkippedChange[] = [];
  for (const change of begun.toReversed()) {
    const reason = await revertChange(change, target);
    if (reason !== null) left.push({ path: change.path, reason });
  }
  return left;
}
