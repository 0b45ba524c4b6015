import type {
  AutoCause,
  Bind,
  CheckpointContent,
  CheckpointStage,
  CheckpointTrigger,
  IntentSource,
  NetMode,
  OperationRecord,
  SessionState,
  StandbyPolicy,
} from "../../shared/protocol/index.ts";

/** What a session has mounted besides its root; the same for all that descends from it. */
export interface ExtraMounts {
  /** Directories of the host, shared with it. */
  binds: readonly Bind[];
  /** Mounts of the host; the nth has its own overlay, in `mounts/<n>` of the subvolume. */
  hostMounts: readonly string[];
}

/** A session as the catalog keeps it. */
export interface SessionRow extends ExtraMounts {
  id: string;
  name: string;
  state: SessionState;
  base: string;
  net: NetMode;
  user: string;
  cwd: string;
  createdAt: string;
  head: string | null;
  forkedFrom: string | null;
  /** The live or last instance: its subvolume, its mount, its network. */
  instance: string | null;
  /** Incarnations made so far; names the next one. */
  instanceCount: number;
  /** Path of its shell in the base; `null` for bash, or sh where there is none. */
  shell: string | null;
  memoryLimitBytes: number | null;
  cpuLimit: number | null;
  pidsLimit: number | null;
  /** Its share of the store; `null` for the default. */
  diskLimitBytes: number | null;
  /** What is kept on standby for it; `null` for what the daemon keeps of all. */
  standby: StandbyPolicy | null;
  /** When it is captured by itself; `null` for what the daemon does with all. */
  auto: string | null;
  autoPausedAt: string | null;
  /** Why its last automatic checkpoint could not be taken; `null` once one was. */
  autoFailure: string | null;
  autoFailedAt: string | null;
}

/** A port of a session that another loopback leads to: the host's, or another session's. */
export interface ForwardRow {
  session: string;
  /** Port inside the session. */
  port: number;
  hostPort: number;
  /** Session on whose loopback `hostPort` is; null for the host's. */
  to: string | null;
}

/** One instance of a session: a row from before it is made until all of it is gone. */
export interface InstanceRow {
  id: string;
  session: string;
  pid: number | null;
  startTicks: number | null;
  address: string | null;
  /** Checkpoint from which its memory is still being filled; `null` when it is whole. */
  fillingFrom: string | null;
  /** What it had come up against when it ended; `null` while it lives, or without limits. */
  memoryHits: number | null;
  pidsHits: number | null;
  cpuHeldBackMs: number | null;
}

/** A checkpoint as the catalog and its manifest keep it. */
export interface CheckpointRow extends ExtraMounts {
  id: string;
  session: string;
  sessionName: string;
  parent: string | null;
  name: string | null;
  intent: string | null;
  trigger: CheckpointTrigger;
  /** What an automatic one was taken for. */
  autoCause: AutoCause | null;
  content: CheckpointContent;
  createdAt: string;
  pauseMs: number;
  totalMs: number;
  memoryBytes: number;
  stage: CheckpointStage;
  base: string;
  net: NetMode;
  user: string;
  cwd: string;
  /** Id of the main terminal in its init; `null` without processes. */
  terminal: number | null;
  kernel: string;
  criu: string;
  arch: string;
  /** Path of its shell in the base; `null` for bash, or sh where there is none. */
  shell: string | null;
  memoryLimitBytes: number | null;
  cpuLimit: number | null;
  pidsLimit: number | null;
  diskLimitBytes: number | null;
  /** Parent whose captures it shares, since nothing had changed; `null` for captures of its own. */
  unchangedSince: string | null;
  /** Digest of the sums of its images; `null` while there are none to compare with. */
  imagesSums: string | null;
  /** The frozen instance that is this checkpoint until it has been dumped. */
  heldBy: string | null;
  /** Why it could not be dumped; `null` before it was tried. */
  heldWhy: string | null;
  /** The agent's last message or tool call, as it was handed over. */
  agentSaid: string | null;
}

/** What the timeline shows of a checkpoint. */
export const TIMELINE_COLUMNS = [
  ...(["id", "session", "sessionName", "parent", "name", "intent", "trigger", "content"] as const),
  "autoCause",
  ...(["createdAt", "unchangedSince", "pauseMs", "totalMs", "memoryBytes", "stage"] as const),
  "heldWhy",
] satisfies (keyof CheckpointRow)[];
export type TimelineRow = Pick<CheckpointRow, (typeof TIMELINE_COLUMNS)[number]>;

/** An operation as the log keeps it, with what `undo` needs to know. */
export interface OperationRow extends OperationRecord {
  /** State of the session before the operation; `null` where it had none. */
  stateBefore: SessionState | null;
}

/** What the timeline shows of a checkpoint's story; the story itself lies beside the checkpoint. */
export interface StoryRow {
  checkpoint: string;
  summary: string;
  /** What was meant, also where nobody said it, and where that was found. */
  intent: string | null;
  intentSource: IntentSource | null;
}

/**
 * Told of every session row after it was written, `null` after it was deleted, so that sessions
 * can be found again without the catalog.
 */
export type SessionMirror = (id: string, row: SessionRow | null) => void;
