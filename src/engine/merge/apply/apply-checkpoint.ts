import { type RawPath, toText } from "../../../base/index.ts";
import { resolveCheckpoint } from "../../../portable/lineage/index.ts";
import type { CheckpointRow } from "../../../portable/model/index.ts";
import type { OperationOutput, OperationParsedInput } from "../../../shared/protocol/index.ts";
import { Target, type Version, versionOfEntry } from "../../changes/index.ts";
import { CopyJob, Root, requireDirectory } from "../../files/index.ts";
import {
  FirstViews,
  findFileChanges,
  MomentFiles,
  openCheckpoint,
  openFresh,
  requirePath,
} from "../../moment/index.ts";
import type { Engine, StreamClient } from "../../ports/index.ts";
import { carryOut } from "../carry-out.ts";
import { refuseConflicts } from "../conflicts.ts";
import { describePlan } from "../describe-plan.ts";
import { type PathChange, splitChanges } from "../desired-changes.ts";
import { type Destination, Journal } from "../journal.ts";
import { makePlan } from "../make-plan.ts";
import { noteDone } from "../note-done.ts";
import type { DesiredChange, Plan } from "../plan.ts";
import { requireNoneUnfinished } from "../recover.ts";
import { type Applied, findApplied } from "./find-applied.ts";
import { type Mapping, mapPaths } from "./map-paths.ts";
import { openSides } from "./open-sides.ts";
import { sendPatch } from "./send-patch.ts";
import { Settling } from "./settle-change.ts";

type Input = OperationParsedInput<"apply">;

/**
 * Brings what a checkpoint's session has changed into the files that it stands on, three-way.
 *
 * The base is what the session saw when it began to change a path. What somebody has changed on the
 * machine since is never overwritten, unless `force` says so.
 *
 * **Requires** the lease of all applies.
 * **On success** every path is as planned, and the operation is in the log, with what undo needs.
 * **On failure** nothing is changed.
 *
 * @throws APPLY_CONFLICT | APPLY_UNFINISHED | FILE_NOT_FOUND | FILE_FAILED | STORE_FULL
 */
export async function applyCheckpoint(
  input: Input,
  client: StreamClient,
  engine: Engine,
): Promise<OperationOutput<"apply">> {
  const journal = new Journal(engine.settings.layout.storeDir);
  await requireNoneUnfinished(journal, client, engine);
  const row = resolveCheckpoint(input.checkpoint, engine.catalog);
  const mapping = mapPaths(input, row, engine);
  using root = Root.of(client.pid, engine.fileCalls);
  using directory = requireDirectory(root, mapping.directory, "on this machine");
  const target = new Target(directory.fd, engine.fileCalls);
  await using to = await openCheckpoint(row, engine);
  await using from = await openFresh(row, engine);
  using files = { ...bothFiles(from, to) };
  for (const each of mapping.under) {
    requirePath(toText(each), [
      { moment: from, files: files.from },
      { moment: to, files: files.to },
    ]);
  }
  const found = await findFileChanges({ from, to }, { engine, signal: client.cancelled }, files);
  const changes = splitChanges(found.changes, files, mapping.under);
  const applied = await findApplied(row, mapping, journal, engine.catalog);
  const id = engine.newId();
  await journal.make(id);
  try {
    const views = new FirstViews(row, engine);
    const scratchDir = journal.dirOf(id);
    const opened = { files, mapping, views, directoryFd: directory.fd, scratchDir };
    await using sides = await openSides({ ...opened, signal: client.cancelled }, engine);
    const settling = new Settling(sides, client.cancelled);
    const desired = await desiredChangesOf(changes, { mapping, views, applied, settling });
    const plan = await makePlan(desired, target, {
      onConflict: input.force ? "theirs" : "refuse",
      labels: { ours: "this machine", base: "base", theirs: row.id },
      ...{ scratchDir, textTools: engine.textTools },
      directoryAt: (path) => directoryAt(files.to, mapping.toSession(path)),
      signal: client.cancelled,
    });
    for (const [what, reason] of Object.entries(found.unknown)) client.notice(`${what}: ${reason}`);
    const result = {
      ...{ target: toText(mapping.directory), checkpoint: row.id, isDone: false, operation: null },
    };
    if (input.dryRun && !input.patch) return { ...describePlan(plan), ...result };
    refuseConflicts(plan, input.force);
    if (input.patch) await sendPatch(plan, target, { scratchDir, client, engine });
    if (input.patch || plan.steps.length === 0) return { ...describePlan(plan), ...result };
    const job = new CopyJob(
      directory.fd,
      { owner: null, dropsPrivileges: true },
      { id, signal: client.cancelled, calls: engine.fileCalls },
    );
    const destination = { kind: "machine", directory: mapping.directory } as const;
    const operation = await carryOutApply(
      plan,
      { row, id, undoes: null, destination, target, journal, job },
      engine,
    );
    return { ...describePlan(plan, job.result.leftOut), ...result, isDone: true, operation };
  } finally {
    await journal.removeUnused(id);
  }
}

/** Carries a plan out and notes it in the log. */
export async function carryOutApply(
  plan: Plan,
  what: {
    row: Pick<CheckpointRow, "id" | "session">;
    id: string;
    /** Number of the operation that this one takes back; `null` for an apply. */
    undoes: number | null;
    destination: Destination;
    target: Target;
    journal: Journal;
    job: CopyJob;
  },
  { catalog, store }: Engine,
): Promise<number> {
  const { row, id, undoes, destination, target, journal, job } = what;
  const at = new Date().toISOString();
  const ids = { id, session: row.session, checkpoint: row.id, at };
  const facts = { ...ids, kind: "apply", before: null, undoes, operation: null } as const;
  const record = { ...facts, destination };
  const sync = () => store.space.sync();
  const done = await carryOut({ record, plan, target, journal, job, sync });
  const operation = await noteDone(done, journal, catalog);
  await journal.forgetOld();
  return operation;
}

function bothFiles(
  from: ConstructorParameters<typeof MomentFiles>[0],
  to: ConstructorParameters<typeof MomentFiles>[0],
) {
  const both = { from: new MomentFiles(from), to: new MomentFiles(to) };
  return {
    ...both,
    [Symbol.dispose]: () => {
      both.from[Symbol.dispose]();
      both.to[Symbol.dispose]();
    },
  };
}

interface Known {
  mapping: Mapping;
  views: FirstViews;
  applied: Applied;
  settling: Settling;
}

async function desiredChangesOf(
  changes: readonly PathChange[],
  { mapping, views, applied, settling }: Known,
): Promise<DesiredChange[]> {
  const desired: DesiredChange[] = [];
  for (const change of changes) {
    const { before, after, path } = change;
    // The directory that is written to is there, and stays as it is.
    if (isRoot(change, mapping)) continue;
    const targetPath = mapping.toTarget(path);
    const earlier = applied.get(targetPath);
    const base = earlier?.joinedFrom ?? (await baseOf(change, views, mapping));
    desired.push({
      ...{ path: targetPath, base, applied: earlier?.left },
      settle: (ours) => settling.settle(change, `/${targetPath}`, ours),
      ctimeNs: base === "ours" && before !== null ? views.ctimeNs(before) : null,
      theirs: after === null ? null : versionOfEntry(after),
      linkKey: after?.upperInode == null || after.type !== "file" ? null : `${after.upperInode}`,
    });
  }
  return desired;
}

async function baseOf(
  change: PathChange,
  views: FirstViews,
  { isBase }: Mapping,
): Promise<DesiredChange["base"]> {
  const { before, path } = change;
  const view = views.of(path, before, change);
  if (view === "unchanged") return isBase || before === null ? "ours" : versionOfEntry(before);
  const recorded = await views.recorded(path);
  if (recorded !== null) return recorded;
  return view === "absent" ? null : "unknown";
}

function isRoot({ path, before, after }: PathChange, mapping: Mapping): boolean {
  if (path === "/") return true;
  if (mapping.isBase || path !== mapping.under[0]) return false;
  return (after ?? before)?.type === "directory";
}

/** Returns a directory of the checkpoint as something to be made. */
function directoryAt(files: MomentFiles, rawPath: RawPath): Version | null {
  const entry = files.find(rawPath);
  return entry?.directory == null ? null : versionOfEntry(entry);
}
