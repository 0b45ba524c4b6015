import type {
  CheckpointRow,
  ForwardRow,
  InstanceRow,
  SessionRow,
  TimelineRow,
} from "../model/index.ts";
import type { CommandLog } from "./command-log.ts";
import type { OperationLog } from "./operation-log.ts";
import type { StoryIndex } from "./story-index.ts";
import type { VerificationLog } from "./verification-log.ts";

/** What never changes in a row. */
export type Immutable = "id" | "binds" | "hostMounts";

/** A checkpoint by its place among all: reading one of these takes a tenth of what the whole row takes. */
export type LineRow = Pick<CheckpointRow, "id" | "session" | "parent">;

/**
 * The index of sessions, checkpoints and operations.
 *
 * The store is the truth: every row of a session or checkpoint can be made again from what lies
 * there. A write has reached the disk when it returns.
 */
export interface Catalog extends Disposable {
  /** True when the file was made by this call: what the store holds is not in it yet. */
  readonly isNew: boolean;

  /** The commands that were run in sessions. */
  readonly commands: CommandLog;

  /** What was run against checkpoints. */
  readonly verifications: VerificationLog;

  /** What happened to sessions. */
  readonly operations: OperationLog;

  /** What the timeline shows of stories, and finds them by. */
  readonly stories: StoryIndex;

  /** Runs `change` as one transaction: all of it happens or nothing. */
  transaction<T>(change: () => T): T;

  /**
   * Runs `change` as one transaction that survives the daemon's death at once, and a loss of power
   * after {@link sync} or the next write. For what says where processes are: they end with the power.
   */
  quickTransaction<T>(change: () => T): T;

  /** Brings quick transactions to the disk. **Requires** before files are removed that they leave. */
  sync(): void;

  sessions(): SessionRow[];

  session(id: string): SessionRow | undefined;

  sessionByName(name: string): SessionRow | undefined;

  insertSession(row: SessionRow): void;

  updateSession(id: string, change: Partial<Omit<SessionRow, Immutable>>): void;

  deleteSession(id: string): void;

  instances(): InstanceRow[];

  instance(id: string): InstanceRow | undefined;

  insertInstance(row: Pick<InstanceRow, "id" | "session"> & Partial<InstanceRow>): void;

  updateInstance(id: string, change: Partial<Omit<InstanceRow, "id">>): void;

  deleteInstance(id: string): void;

  checkpoints(session?: string): CheckpointRow[];

  /** As {@link checkpoints}, with what the timeline shows of each: there may be thousands. */
  timeline(): TimelineRow[];

  /** A checkpoint and all its ancestors, newest first; none for `null`. There may be thousands. */
  line(id: string | null): LineRow[];

  /** Every checkpoint by what it descends from. */
  lines(): LineRow[];

  checkpoint(id: string): CheckpointRow | undefined;

  checkpointByName(name: string): CheckpointRow | undefined;

  checkpointsByPrefix(prefix: string, limit: number): CheckpointRow[];

  insertCheckpoint(row: CheckpointRow): void;

  updateCheckpoint(id: string, change: Partial<Omit<CheckpointRow, Immutable>>): void;

  deleteCheckpoint(id: string): void;

  /** Returns the checkpoints that frozen instances hold. */
  heldCheckpoints(): CheckpointRow[];

  forwards(): ForwardRow[];

  insertForward(row: ForwardRow): void;

  deleteForward(row: ForwardRow): void;
}
