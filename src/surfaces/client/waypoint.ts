import type {
  Browse,
  GrepMatch,
  OperationInput,
  OperationOutput,
  Session as SessionInfo,
} from "../../shared/protocol/index.ts";
import { type ApplyOptions, applyWork } from "./apply-work.ts";
import { Approvals } from "./approvals.ts";
import { Bases } from "./bases.ts";
import { type BisectOptions, bisectCheckpoints } from "./bisect.ts";
import { callOperation } from "./call-operation.ts";
import type { Checkpoint } from "./checkpoint.ts";
import {
  browseMoment,
  type CopyOptions,
  copyPlaces,
  type FilePath,
  type FilePlace,
  type GrepOptions,
  grepMatches,
  type MomentReference,
  readPlaces,
} from "./file-operations.ts";
import { findSession } from "./find-session.ts";
import type { Forks } from "./forks.ts";
import {
  type CallControl,
  type CheckpointOptions,
  type DiffOptions,
  type ForkOptions,
  type LogOptions,
  type NewOptions,
  splitControl,
  type VerifyOptions,
} from "./options.ts";
import {
  checkpointRef,
  momentRef,
  requireNode,
  requireOptions,
  requireSessionReference,
} from "./require-arguments.ts";
import { forkCheckpoint, Session } from "./session.ts";
import { resolveStateDir } from "./state-dir.ts";
import { type VerifyCommand, verifyCheckpoints } from "./verify.ts";

/** How to open Waypoint. */
export interface OpenOptions extends CallControl {
  /**
   * Directory with the whole state of Waypoint.
   * @defaultValue WAYPOINT_DIR, or /var/lib/waypoint
   */
  stateDir?: string;
}

/**
 * The sessions and checkpoints of one state directory; the entry to the SDK.
 *
 * Holds no connection, so there is nothing to close. Every method throws a `WaypointError`; none
 * tries again by itself.
 */
export class Waypoint {
  /** Absolute path of the state directory. */
  readonly stateDir: string;
  readonly bases: Bases;
  readonly approvals: Approvals;

  private constructor(stateDir: string) {
    this.stateDir = stateDir;
    this.bases = new Bases(stateDir);
    this.approvals = new Approvals(stateDir);
  }

  /**
   * Opens Waypoint, and starts its daemon if it does not run yet.
   *
   * @throws HOST_UNSUPPORTED    this program's Node is too old.
   * @throws PRIVILEGE_MISSING   the daemon does not run and this user may not start it.
   * @throws DAEMON_UNREACHABLE  it did not start; `detail.logExcerpt` says why.
   */
  static async open(options: OpenOptions = {}): Promise<Waypoint> {
    requireNode();
    requireOptions(options);
    const { stateDir, ...control } = options;
    const waypoint = new Waypoint(resolveStateDir(stateDir));
    await callOperation(waypoint.stateDir, "daemon.status", {}, control);
    return waypoint;
  }

  /** Starts a session: a live computer whose root filesystem is a copy of the base. */
  async new(options: NewOptions = {}): Promise<Session> {
    const { control, input } = splitControl(options);
    const session = await callOperation(this.stateDir, "new", input, control);
    return new Session(this.stateDir, session, true);
  }

  /** Returns a session by name, id or unique prefix. @throws SESSION_NOT_FOUND | REFERENCE_AMBIGUOUS */
  async session(reference: string, control: CallControl = {}): Promise<Session> {
    requireSessionReference(reference);
    const found = findSession(await this.sessions(control), reference);
    return new Session(this.stateDir, found, false);
  }

  /** Returns all sessions, also those that ended, as facts. */
  async sessions(control: CallControl = {}): Promise<SessionInfo[]> {
    const { sessions } = await callOperation(this.stateDir, "ls", {}, control);
    return sessions;
  }

  /**
   * Returns the timeline: checkpoints, operations, and where each session stands. With options, only
   * the checkpoints that fit all of them; `elided` says where others are.
   */
  async log(options: LogOptions = {}): Promise<OperationOutput<"log">> {
    const { control, input } = splitControl(options);
    return await callOperation(this.stateDir, "log", input, control);
  }

  /** Returns one checkpoint in full. @throws CHECKPOINT_NOT_FOUND | REFERENCE_AMBIGUOUS */
  async show(
    checkpoint: string | Checkpoint,
    control: CallControl = {},
  ): Promise<OperationOutput<"show">> {
    const request = { checkpoint: checkpointRef(checkpoint) };
    return await callOperation(this.stateDir, "show", request, control);
  }

  /**
   * Returns what differs between any two moments: checkpoints, or sessions as they are now; without
   * `to`, what changed since `from`. A section that cannot be read is `null`; `unknown` says why.
   *
   * @throws CHECKPOINT_NOT_FOUND | REFERENCE_AMBIGUOUS | CHECKPOINT_INCOMPLETE
   */
  async diff(
    from: MomentReference,
    to?: MomentReference,
    options: DiffOptions = {},
  ): Promise<OperationOutput<"diff">> {
    const { control, input } = splitControl(options);
    const request = { ...input, from: momentRef(from), ...(to && { to: momentRef(to) }) };
    return await callOperation(this.stateDir, "diff", request, control);
  }

  /**
   * Runs a command against checkpoints, each in a throw-away fork, and keeps the results beside
   * them. One in which it could not be run has an `error` and does not stop the others.
   *
   * @throws CHECKPOINT_NOT_FOUND | REFERENCE_AMBIGUOUS | CANCELLED
   */
  async verify(
    checkpoints: readonly (string | Checkpoint)[],
    command: VerifyCommand,
    options: VerifyOptions = {},
  ): Promise<OperationOutput<"verify">> {
    return await verifyCheckpoints(this.stateDir, checkpoints, command, options);
  }

  /**
   * Finds the first bad checkpoint between `good`, where the command passes, and `bad`, which
   * descends from it and where it fails. As for `git bisect run`, exit code 125 skips a checkpoint.
   *
   * @throws CHECKPOINT_NOT_ANCESTOR | BISECT_GOOD_FAILS | BISECT_BAD_PASSES | BISECT_STOPPED |
   * CHECKPOINT_NOT_FOUND | CANCELLED
   */
  async bisect(
    good: string | Checkpoint,
    bad: string | Checkpoint,
    command: string | readonly string[],
    options: BisectOptions = {},
  ): Promise<OperationOutput<"bisect">> {
    return await bisectCheckpoints(this.stateDir, { good, bad }, command, options);
  }

  /**
   * Reads a file of any moment, exactly and in pieces. Links are followed inside the moment.
   *
   * @throws FILE_NOT_FOUND | FILE_REFUSED | CHECKPOINT_NOT_FOUND
   */
  cat(
    moment: MomentReference,
    path: FilePath,
    control: CallControl = {},
  ): AsyncGenerator<Uint8Array, OperationOutput<"cat">> {
    return readPlaces(this.stateDir, [{ moment, path }], control);
  }

  /**
   * Copies files and directories out of any moment to this machine, or from anywhere into a live
   * session, as `cp -a` does. Each file is replaced as a whole or not at all.
   *
   * @throws FILE_NOT_FOUND | FILE_REFUSED | FILE_FAILED | STORE_FULL | SESSION_WRONG_STATE
   */
  async cp(
    from: FilePlace | readonly FilePlace[],
    to: FilePlace,
    options: CopyOptions = {},
  ): Promise<OperationOutput<"cp">> {
    const places = "path" in from ? [from] : from;
    return await copyPlaces(this.stateDir, { from: places, to }, options);
  }

  /**
   * Mounts the files of a moment, read-only, until {@link endBrowse} or the daemon's end; with `await
   * using` until the end of its block.
   *
   * @param options.directory  an empty one. @defaultValue one is made in the state directory
   * @throws FILE_NOT_FOUND | FILE_REFUSED | CHECKPOINT_NOT_FOUND | SANDBOX_FAILED
   */
  async browse(
    moment: MomentReference,
    options: { directory?: string } & CallControl = {},
  ): Promise<Browse & AsyncDisposable> {
    return await browseMoment(this.stateDir, moment, options);
  }

  /** Returns what is mounted to be browsed. */
  async browses(control: CallControl = {}): Promise<Browse[]> {
    return (await callOperation(this.stateDir, "browse.list", {}, control)).browses;
  }

  /** Unmounts what `which` names: an id, a directory, a checkpoint. @throws FILE_NOT_FOUND */
  async endBrowse(which: string, control: CallControl = {}): Promise<Browse[]> {
    return (await callOperation(this.stateDir, "browse.end", { which }, control)).ended;
  }

  /**
   * Searches files and recorded outputs across checkpoints, newest first; matches come as they are
   * found. What was searched is what the generator returns.
   *
   * @throws USAGE_INVALID | CHECKPOINT_NOT_FOUND | SESSION_NOT_FOUND | DEADLINE_EXCEEDED
   */
  grep(
    pattern: string,
    options: GrepOptions = {},
  ): AsyncGenerator<GrepMatch, OperationOutput<"grep">> {
    return grepMatches(this.stateDir, pattern, options);
  }

  /**
   * Brings the work of a checkpoint into the real files of this machine, three-way; all or nothing.
   *
   * @throws APPLY_CONFLICT  `detail.conflicts` | APPLY_UNFINISHED | FILE_FAILED | STORE_FULL
   */
  async apply(
    checkpoint: string | Checkpoint,
    options: ApplyOptions = {},
  ): Promise<OperationOutput<"apply">> {
    return await applyWork(this.stateDir, checkpoint, options);
  }

  /** Takes an apply back, the last one if no number is given. @throws APPLY_CONFLICT | APPLY_NOT_FOUND */
  async undoApply(
    options: OperationInput<"apply.undo"> & CallControl = {},
  ): Promise<OperationOutput<"apply.undo">> {
    const { control, input } = splitControl(options);
    return await callOperation(this.stateDir, "apply.undo", input, control);
  }

  /**
   * Takes the file changes of another branch into a live session, conflicts as git leaves them.
   *
   * @throws LINEAGE_UNRELATED | SESSION_WRONG_STATE | CRIU_DUMP_FAILED | STORE_FULL
   */
  async merge(
    session: string | Session,
    checkpoint: string | Checkpoint,
    options: { dryRun?: boolean } & CallControl = {},
  ): Promise<OperationOutput<"merge">> {
    const { control, input } = splitControl(options);
    const places = { session: momentRef(session), checkpoint: checkpointRef(checkpoint) };
    const request = { ...input, ...places };
    return await callOperation(this.stateDir, "merge", request, control);
  }

  /** Removes checkpoints, with `force` also needed ones. @throws CHECKPOINT_IN_USE */
  async removeCheckpoints(
    checkpoints: readonly (string | Checkpoint)[],
    options: { force?: boolean } & CallControl = {},
  ): Promise<OperationOutput<"rm.checkpoints">> {
    const { control, input } = splitControl(options);
    const request = { ...input, checkpoints: checkpoints.map(checkpointRef) };
    return await callOperation(this.stateDir, "rm.checkpoints", request, control);
  }

  /** Captures the session that `session` names. @see Session.checkpoint */
  async checkpoint(session: string, options: CheckpointOptions = {}): Promise<Checkpoint> {
    const { control } = splitControl(options);
    return await (await this.session(session, control)).checkpoint(options);
  }

  /**
   * Starts new sessions from a checkpoint; the session that it captured is not touched.
   *
   * **On failure** none of the new sessions is left.
   */
  async fork(checkpoint: string | Checkpoint, options: ForkOptions = {}): Promise<Forks> {
    return await forkCheckpoint(this.stateDir, checkpointRef(checkpoint), options);
  }
}
