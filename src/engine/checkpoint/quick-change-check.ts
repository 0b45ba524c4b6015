import type { SessionRow } from "../../portable/model/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { autoPolicyOf } from "../session/index.ts";

/**
 * What was seen of a session when it was last captured, or when it was first looked at: cheap to
 * compare with, after every command. It is no proof that nothing has changed (exact-change-check.ts
 * is): memory is not looked at.
 */
interface QuickState {
  files: ReturnType<Engine["store"]["filesState"]>;
  /** Which processes there were, each with its directory. */
  processes: string;
  /** How long they had run, in clock ticks. */
  ranTicks: number;
  at: number;
  /** Taken as the session began: what its shell starts with may end. */
  isOfStart: boolean;
}

/** What has become of a session since it was noted. */
export interface QuickChanges {
  /** Files, processes or their directories are others. */
  hasChanged: boolean;
  /** A process has run, or somebody has typed. */
  hasRun: boolean;
}

/** Nobody changes anything in this time after a start or a restore; clocks are no finer. */
const START_MS = 10;

const quickStates = new WeakMap<LiveInstance, QuickState>();

/** A look at a session that is about to be dumped. */
interface QuickLook {
  /** The session runs again. */
  captured: () => void;
  /** Notes the look: what comes after it, and is not in the snapshot either, is a change. */
  keep: (checkpointId: string) => void;
}

/** Looks at a session that is about to be dumped. */
export function noteQuickState(session: SessionRow, live: LiveInstance, engine: Engine): QuickLook {
  if (autoPolicyOf(session, engine.settings).text === "manual") {
    return { captured: () => {}, keep: () => {} };
  }
  const { link, pid } = live;
  const { processes } = engine.sandbox.treeFingerprint(pid);
  const at = Date.now();
  const ran = () => engine.sandbox.treeFingerprint(pid).ranTicks;
  let captured: { ranTicks: number; requestCount: number } | undefined;
  return {
    captured: () => {
      captured = { ranTicks: ran(), requestCount: link.requestCount };
    },
    keep: (checkpointId) => {
      const files = engine.store.filesStateOf(checkpointId);
      // The dump itself makes each process run, behind the pause, too; what a command makes it run is a change.
      const ranTicks =
        captured === undefined || captured.requestCount === link.requestCount
          ? ran()
          : captured.ranTicks;
      quickStates.set(live, { files, processes, ranTicks, at, isOfStart: false });
    },
  };
}

/** Notes a session as it is now, unless it was noted before. */
export function noteStartState(live: LiveInstance, engine: Engine): void {
  if (quickStates.has(live)) return;
  const at = Date.now();
  const { transaction } = engine.store.filesState(live.instanceId);
  // More may be changed in the same transaction, so what it has changed follows from the time alone,
  // and what a start or a restore has just written is nothing that anybody has changed.
  const files = { transaction: transaction - 1n, changedAtMs: at + START_MS };
  quickStates.set(live, {
    ...engine.sandbox.treeFingerprint(live.pid),
    files,
    at,
    isOfStart: true,
  });
}

/** Notes a session that was noted as it began as it is now, where its shell has come to its prompt. */
export function noteStartAgain(live: LiveInstance, engine: Engine): void {
  if (quickStates.get(live)?.isOfStart !== true) return;
  quickStates.delete(live);
  noteStartState(live, engine);
}

/** Returns what has become of a session since it was noted; all, where it never was. */
export async function quickChanges(live: LiveInstance, engine: Engine): Promise<QuickChanges> {
  const noted = quickStates.get(live);
  if (noted === undefined) return { hasChanged: true, hasRun: true };
  const { processes, ranTicks } = engine.sandbox.treeFingerprint(live.pid);
  const lastKeyAtMs = engine.typing.lastKeyAtMs(live.sessionId) ?? 0;
  return {
    hasChanged: hasOtherProcesses(noted, processes) || (await hasChangedFiles(live, noted, engine)),
    hasRun: ranTicks !== noted.ranTicks || lastKeyAtMs > noted.at,
  };
}

function hasOtherProcesses(noted: QuickState, processes: string): boolean {
  if (!noted.isOfStart) return processes !== noted.processes;
  const known = new Set(noted.processes.split("\n"));
  return processes.split("\n").some((each) => !known.has(each));
}

async function hasChangedFiles(
  { instanceId }: LiveInstance,
  noted: QuickState,
  { store }: Engine,
): Promise<boolean> {
  const { transaction } = store.filesState(instanceId);
  if (transaction === noted.files.transaction) return false;
  // Who puts the clock back makes times of change lie.
  if (Date.now() < noted.files.changedAtMs) return true;
  const hasChanged = await store.hasChangedFiles(instanceId, noted.files);
  // All of this was looked at, and is nothing to look at again.
  if (!hasChanged) noted.files = { ...noted.files, transaction };
  return hasChanged;
}

/**
 * Returns when a file was touched last, in milliseconds since the epoch; `null` where none was since
 * it was noted, as far as that is on its way to the disk.
 */
export function touchedSinceNoted(live: LiveInstance, { store }: Engine): number | null {
  const { transaction, changedAtMs } = store.filesState(live.instanceId);
  return transaction === quickStates.get(live)?.files.transaction ? null : changedAtMs;
}
