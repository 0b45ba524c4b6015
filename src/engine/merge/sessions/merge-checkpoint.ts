import { fromText, isAtOrBelow, type RawPath, toText } from "../../../base/index.ts";
import { ancestry } from "../../../portable/lineage/index.ts";
import type { CheckpointRow, SessionRow } from "../../../portable/model/index.ts";
import { WaypointError } from "../../../shared/errors/index.ts";
import type { OperationOutput } from "../../../shared/protocol/index.ts";
import { Target, versionOfEntry } from "../../changes/index.ts";
import { createCheckpoint, roundMs } from "../../checkpoint/index.ts";
import { CopyJob, Root } from "../../files/index.ts";
import { findFileChanges, MomentFiles, openCheckpoint } from "../../moment/index.ts";
import type { Engine, StreamClient } from "../../ports/index.ts";
import { requireLive } from "../../session/index.ts";
import { carryOut } from "../carry-out.ts";
import { refuseConflicts } from "../conflicts.ts";
import { describePlan } from "../describe-plan.ts";
import { splitChanges } from "../desired-changes.ts";
import { Journal } from "../journal.ts";
import { makePlan } from "../make-plan.ts";
import type { DesiredChange, Plan } from "../plan.ts";
import { requireNoneUnfinished } from "../recover.ts";

/** Processes with open files that a result names at most. */
const HOLDERS_MAX = 100;

/** What is merged, into what. */
export interface MergeRequest {
  session: SessionRow;
  checkpoint: CheckpointRow;
  dryRun: boolean;
}

/**
 * Takes what another branch has changed into the files of a live session, three-way.
 *
 * The base is the nearest checkpoint from which both come. Conflicts end as git's merge leaves them:
 * markers in texts, of other files the session's own version, of what one side has deleted what the
 * other has made of it.
 *
 * **Requires** the session's lease and that of all applies.
 * **On success** the session runs on with the files of both; a checkpoint of before is in its line.
 * **On failure** its files are as they were.
 *
 * @throws LINEAGE_UNRELATED | SESSION_WRONG_STATE | APPLY_CONFLICT  a path is blocked
 * | APPLY_UNFINISHED | CRIU_DUMP_FAILED | STORE_FULL | FILE_FAILED
 */
export async function mergeCheckpoint(
  { session, checkpoint, dryRun }: MergeRequest,
  client: StreamClient,
  engine: Engine,
): Promise<OperationOutput<"merge">> {
  const journal = new Journal(engine.settings.layout.storeDir);
  await requireNoneUnfinished(journal, client, engine);
  const live = requireLive(session, engine);
  const ancestor = requireCommon(session, checkpoint, engine);
  const before = dryRun ? null : await captureBefore(session, engine);
  await using from = await openCheckpoint(ancestor, engine);
  await using to = await openCheckpoint(checkpoint, engine);
  using open = new DisposableStack();
  const files = { from: open.use(new MomentFiles(from)), to: open.use(new MomentFiles(to)) };
  const found = await findFileChanges({ from, to }, { engine, signal: client.cancelled }, files);
  const shared = session.binds.map(({ target }) => fromText(target));
  const changes = splitChanges(found.changes, files, ["/"]).filter(
    ({ path }) => path !== "/" && !shared.some((bind) => isAtOrBelow(path, bind)),
  );
  const root = open.use(Root.of(live.pid, engine.fileCalls));
  const target = new Target(root.fd, engine.fileCalls);
  const id = engine.newId();
  await journal.make(id);
  try {
    const desired = changes.map(
      (change): DesiredChange => ({
        path: change.path.slice(1),
        base: change.before === null ? null : versionOfEntry(change.before),
        ctimeNs: null,
        theirs: change.after === null ? null : versionOfEntry(change.after),
        linkKey: change.after?.upperInode == null ? null : `${change.after.upperInode}`,
      }),
    );
    const plan = await makePlan(desired, target, {
      onConflict: "git",
      labels: { ours: session.name, base: ancestor.id, theirs: checkpoint.name ?? checkpoint.id },
      ...{ scratchDir: journal.dirOf(id), textTools: engine.textTools },
      directoryAt: (path) => {
        const entry = files.to.find(`/${path}`);
        return entry?.directory == null ? null : versionOfEntry(entry);
      },
      signal: client.cancelled,
    });
    const holders = holdersOf(plan, live.pid, engine);
    const facts = {
      session: session.id,
      checkpoint: checkpoint.id,
      ancestor: ancestor.id,
      holders,
    };
    const result = { ...facts, before: before?.id ?? null, isDone: false, operation: null };
    if (dryRun) return { ...describePlan(plan), ...result };
    refuseConflicts(plan, true);
    if (plan.steps.length === 0) return { ...describePlan(plan), ...result };
    const rules = { owner: null, dropsPrivileges: false };
    const job = new CopyJob(root.fd, rules, {
      id,
      signal: client.cancelled,
      calls: engine.fileCalls,
    });
    const startedAtMs = performance.now();
    const at = new Date().toISOString();
    const record = {
      ...({ id, kind: "merge", at, session: session.id, checkpoint: checkpoint.id } as const),
      destination: { kind: "session", session: session.id } as const,
      ...{ before: before?.id ?? null, operation: null, undoes: null },
    };
    const sync = () => engine.store.space.sync();
    await carryOut({ record, plan, target, journal, job, sync });
    const operation = engine.catalog.operations.insert({
      ...{ session: session.id, kind: "merge", checkpoint: checkpoint.id, at },
      ...{ undo: before?.id ?? null, stateBefore: session.state },
      readyMs: roundMs(performance.now() - startedAtMs),
    });
    // Its undo is a restore of the checkpoint before it, so nothing of it is kept here.
    await journal.remove(id);
    const told = describePlan(plan, job.result.leftOut);
    return { ...told, ...result, isDone: true, operation };
  } finally {
    await journal.removeUnused(id);
  }
}

/** Returns the nearest checkpoint that both come from. @throws LINEAGE_UNRELATED */
function requireCommon(
  session: SessionRow,
  checkpoint: CheckpointRow,
  { catalog }: Engine,
): CheckpointRow {
  const theirs = new Set(catalog.line(checkpoint.id).map(({ id }) => id));
  const common = ancestry(session.head, catalog).find(({ id }) => theirs.has(id));
  if (common !== undefined) return common;
  throw new WaypointError(
    "LINEAGE_UNRELATED",
    `Session ${session.name} and checkpoint ${checkpoint.id} come from no common checkpoint.`,
    {
      hint: "Copy what you want with `waypoint cp`; merge needs to know what both started from.",
      detail: { session: session.id, checkpoint: checkpoint.id },
    },
  );
}

async function captureBefore(session: SessionRow, engine: Engine): Promise<CheckpointRow> {
  return await createCheckpoint(
    session,
    {
      ...({ trigger: "before-merge", intent: "before merge", name: null } as const),
      ...{ filesOnly: false, movesHead: true },
    },
    engine,
  );
}

/** Returns which processes have a file open that is replaced: they go on with it as it is now. */
function holdersOf({ steps }: Plan, pid: number, { sandbox }: Engine) {
  const replaced = steps.filter(({ kind, identity }) => identity !== null && kind !== "attributes");
  const paths = new Set<RawPath>(replaced.map(({ path }) => `/${path}`));
  if (paths.size === 0) return [];
  return sandbox
    .listOpenFiles(pid)
    .flatMap(({ paths: open, ...holder }) =>
      [...open]
        .filter((each) => paths.has(each))
        .map((each) => ({ ...holder, path: toText(each) })),
    )
    .slice(0, HOLDERS_MAX);
}
