import type { SessionRow } from "../../portable/model/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { autoPolicyOf } from "../session/index.ts";

/**
 * What was seen of a session when it was last captured, or when it was first looked at: cheap to
 * compare with, after every command. It is no proof that nothing has changed (unchanged.ts has
 * that): memory is not looked at.
 */
interface Mark {
  files: ReturnType<Engine["store"]["filesState"]>;
  /** Which processes there were, each with its directory. */
  processes: string;
  /** How long they had run, in clock ticks. */
  ranTicks: number;
  at: number;
  /** Taken as the session began: what its shell starts with may end. */
  isOfStart: boolean;
}

/** What has become of a session since its mark. */
export interface ChangesSinceMark {
  /** Files, processes or their directories are others. */
  hasChanged: boolean;
  /** A process has run, or somebody has typed. */
  hasRun: boolean;
}

/** Nobody changes anything in this time after a start or a restore; clocks are no finer. */
const START_MS = 10;

const marks = new WeakMap<LiveInstance, Mark>();

/**
 * Looks at a session that is about to be dumped. `take` makes that its mark: what comes after the
 * look, and is not in the snapshot either, is a change.
 */
export function markCapture(
  session: SessionRow,
  live: LiveInstance,
  engine: Engine,
): { take: (checkpointId: string) => void } {
  if (autoPolicyOf(session, engine.settings).text === "manual") return { take: () => {} };
  const { processes } = engine.sandbox.treeFingerprint(live.pid);
  const at = Date.now();
  return {
    take: (checkpointId) => {
      const files = engine.store.filesStateOf(checkpointId);
      // The dump itself makes each process run.
      const { ranTicks } = engine.sandbox.treeFingerprint(live.pid);
      marks.set(live, { files, processes, ranTicks, at, isOfStart: false });
    },
  };
}

/** Takes a session as it is now for the mark, unless it has one. */
export function markAsItIs(live: LiveInstance, engine: Engine): void {
  if (marks.has(live)) return;
  const at = Date.now();
  const { transaction } = engine.store.filesState(live.instanceId);
  // More may be changed in the same transaction, so what it has changed is told by the time alone,
  // and what a start or a restore has just written is nothing that anybody has changed.
  const files = { transaction: transaction - 1n, changedAtMs: at + START_MS };
  marks.set(live, { ...engine.sandbox.treeFingerprint(live.pid), files, at, isOfStart: true });
}

/** Returns what has become of a session since its mark; without one, all has changed. */
export async function changesSinceMark(
  live: LiveInstance,
  engine: Engine,
): Promise<ChangesSinceMark> {
  const mark = marks.get(live);
  if (mark === undefined) return { hasChanged: true, hasRun: true };
  const { processes, ranTicks } = engine.sandbox.treeFingerprint(live.pid);
  const lastKeyAtMs = engine.typing.lastKeyAtMs(live.sessionId) ?? 0;
  return {
    hasChanged: hasOtherProcesses(mark, processes) || (await hasChangedFiles(live, mark, engine)),
    hasRun: ranTicks !== mark.ranTicks || lastKeyAtMs > mark.at,
  };
}

function hasOtherProcesses(mark: Mark, processes: string): boolean {
  if (!mark.isOfStart) return processes !== mark.processes;
  const known = new Set(mark.processes.split("\n"));
  return processes.split("\n").some((each) => !known.has(each));
}

async function hasChangedFiles(
  { instanceId }: LiveInstance,
  mark: Mark,
  { store }: Engine,
): Promise<boolean> {
  const { transaction } = store.filesState(instanceId);
  if (transaction === mark.files.transaction) return false;
  // Who puts the clock back makes times of change lie.
  if (Date.now() < mark.files.changedAtMs) return true;
  const hasChanged = await store.hasChangedFiles(instanceId, mark.files);
  // All of this was looked at, and is nothing to look at again.
  if (!hasChanged) mark.files = { ...mark.files, transaction };
  return hasChanged;
}

/**
 * Returns when a file was touched last, in milliseconds since the epoch; `null` where none was since
 * the mark, as far as that is on its way to the disk.
 */
export function touchedSinceMark(live: LiveInstance, { store }: Engine): number | null {
  const { transaction, changedAtMs } = store.filesState(live.instanceId);
  return transaction === marks.get(live)?.files.transaction ? null : changedAtMs;
}
