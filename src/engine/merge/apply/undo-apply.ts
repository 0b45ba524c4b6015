import { fromText, toText } from "../../../base/index.ts";
import { WaypointError } from "../../../shared/errors/index.ts";
import type { Applied, OperationParsedInput } from "../../../shared/protocol/index.ts";
import type { Version } from "../../changes/index.ts";
import { CopyJob } from "../../files/index.ts";
import type { Engine, StreamClient } from "../../ports/index.ts";
import { refuseConflicts } from "../conflicts.ts";
import { describePlan } from "../describe-plan.ts";
import { Journal, type JournalRecord, type KeptStep } from "../journal.ts";
import { makePlan } from "../make-plan.ts";
import type { DesiredChange } from "../plan.ts";
import { requireNoneUnfinished, withTarget } from "../recover.ts";
import { carryOutApply } from "./apply-checkpoint.ts";

/**
 * Takes an apply back: every path becomes what it was before, if it is still as the apply has left
 * it. The undo is an apply itself, and can be taken back.
 *
 * **Requires** the lease of all applies.
 * **On failure** nothing is changed.
 *
 * @throws APPLY_CONFLICT  paths were changed since | APPLY_NOT_FOUND | APPLY_UNFINISHED
 */
export async function undoApply(
  input: OperationParsedInput<"apply.undo">,
  client: StreamClient,
  engine: Engine,
): Promise<Applied> {
  const journal = new Journal(engine.settings.layout.storeDir);
  await requireNoneUnfinished(journal, client, engine);
  const record = await findApply(journal, input.operation);
  return await withTarget(record.destination, client, engine, async (target) => {
    const id = engine.newId();
    await journal.make(id);
    try {
      const plan = await makePlan(desiredChangesOf(record, journal), target, {
        onConflict: input.force ? "theirs" : "refuse",
        labels: { ours: "now", base: "applied", theirs: "before" },
        ...{ scratchDir: journal.dirOf(id), textTools: engine.textTools },
        ...{ directoryAt: () => null, signal: client.cancelled },
      });
      const { checkpoint, destination } = record;
      const where = destination.kind === "machine" ? toText(destination.directory) : "";
      const facts = { target: where, checkpoint, isDone: false, operation: null };
      if (input.dryRun) return { ...describePlan(plan), ...facts };
      refuseConflicts(plan, input.force);
      if (plan.steps.length === 0) {
        // Somebody has put all of it back by hand; the one before it is the last now.
        if (record.operation !== null) await journal.noteUndone(record.operation);
        return { ...describePlan(plan), ...facts };
      }
      const rules = { owner: null, dropsPrivileges: false };
      const job = new CopyJob(target.rootFd, rules, {
        id,
        signal: client.cancelled,
        calls: engine.fileCalls,
      });
      const row = { id: checkpoint, session: record.session };
      const undoes = record.operation;
      const what = { row, id, undoes, destination, target, journal, job };
      const operation = await carryOutApply(plan, what, engine);
      return { ...describePlan(plan), ...facts, isDone: true, operation };
    } finally {
      await journal.removeUnused(id);
    }
  });
}

async function findApply(journal: Journal, operation: number | undefined): Promise<JournalRecord> {
  const done = (await journal.list()).filter(
    ({ kind, state }) => kind === "apply" && state === "done",
  );
  const found =
    operation === undefined ? done.at(-1) : done.find((record) => record.operation === operation);
  if (found !== undefined) return found;
  const what = operation === undefined ? "There is no apply" : `Operation ${operation} is no apply`;
  throw new WaypointError("APPLY_NOT_FOUND", `${what} that can be taken back.`, {
    hint: "What the last 20 applies, merges and their undos have replaced is kept; `waypoint op log` numbers them.",
  });
}

function desiredChangesOf({ id, steps }: JournalRecord, journal: Journal): DesiredChange[] {
  const byPath = new Map<string, DesiredChange>();
  for (const step of steps) {
    const { path } = step;
    const known = byPath.get(path);
    // A path of two steps was removed first and made anew then.
    const theirs = known === undefined ? oldVersion(step, id, journal) : known.theirs;
    byPath.set(path, { path, base: step.after, ctimeNs: null, theirs, linkKey: null });
  }
  return [...byPath.values()];
}

function oldVersion(step: KeptStep, id: string, journal: Journal): Version | null {
  const { before, kind, number } = step;
  if (before?.type !== "file" || kind === "attributes") return before;
  return { ...before, content: { hostPath: fromText(journal.oldPath(id, number)) } };
}
