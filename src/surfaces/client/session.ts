import { hasCode } from "../../shared/errors/index.ts";
import type {
  OperationOutput,
  RestorePlan,
  RevertPlan,
  Session as SessionInfo,
  SessionProcess,
} from "../../shared/protocol/index.ts";
import { callOperation } from "./call-operation.ts";
import { Checkpoint } from "./checkpoint.ts";
import { CommandedSession } from "./commanded-session.ts";
import { compensateEffects } from "./compensate.ts";
import { findSession } from "./find-session.ts";
import { asForks, type Forks } from "./forks.ts";
import { type OperationStream, openStream } from "./operation-stream.ts";
import {
  type AttachOptions,
  type AutoOptions,
  type CallControl,
  type CheckpointOptions,
  type ForkOptions,
  type LogOptions,
  type PlanOptions,
  type RestoreOptions,
  type RevertOptions,
  type RevertPlanOptions,
  type StartOptions,
  splitControl,
  type UndoOptions,
} from "./options.ts";
import { checkpointRef, requireOptions } from "./require-arguments.ts";
import {
  chooseVerifyCommand,
  forgetVerifications,
  type VerifyCommand,
  verifyOne,
} from "./verify.ts";

/**
 * A live computer. Holds no connection: the session lives on when this object is gone, unless it is
 * declared with `await using`.
 */
export class Session extends CommandedSession implements AsyncDisposable {
  readonly #stateDir: string;
  readonly #isOwn: boolean;

  /**
   * Not for callers: `Waypoint.new`, `fork` and `Waypoint.session` make sessions.
   *
   * @param isOwn  this program has started it, and may end it with its block
   */
  constructor(stateDir: string, facts: { id: string; name: string }, isOwn: boolean) {
    super(stateDir, facts);
    this.#stateDir = stateDir;
    this.#isOwn = isOwn;
  }

  /**
   * Ends a block with `await using`: removes the session and its checkpoints, as `remove` does, if
   * `Waypoint.new` or `fork` made this object. One that `Waypoint.session` found is left alone.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOwn) return;
    await this.remove({ force: true }).catch((error: unknown) => {
      if (!hasCode(error, "SESSION_NOT_FOUND")) throw error;
    });
  }

  /** Returns the session's facts as they are now. @throws SESSION_NOT_FOUND  it was removed. */
  async info(control: CallControl = {}): Promise<SessionInfo> {
    const { sessions } = await callOperation(this.#stateDir, "ls", {}, control);
    return findSession(sessions, this.id);
  }

  /**
   * Captures the session; what runs in it is not disturbed.
   *
   * With `verify`, a command is run against it, and `info.verification` is its result; with
   * `verifyWait: false` that comes later, and `show` has it.
   *
   * **On failure** nothing is recorded and the session runs as before.
   *
   * @throws CRIU_DUMP_FAILED | SESSION_WRONG_STATE | FORK_REFUSED | STORE_FULL | NAME_IN_USE
   */
  async checkpoint(options: CheckpointOptions = {}): Promise<Checkpoint> {
    const { control, input } = splitControl(options);
    const request = { ...input, session: this.id };
    const info = await callOperation(this.#stateDir, "checkpoint", request, control);
    return bindCheckpoint(this.#stateDir, info);
  }

  /**
   * Puts the session back to a checkpoint, all or parts; what is there now is checkpointed first.
   *
   * Processes that cannot be captured make it fail, unless `loseProcesses` gives them up; then
   * `undoContent` of the result is "files". With `withoutUndo` nothing is captured.
   *
   * **On failure** the session is as it was.
   *
   * @throws CRIU_DUMP_FAILED | CRIU_RESTORE_FAILED | STORE_FULL | CHECKPOINT_NOT_FOUND |
   * CHECKPOINT_OF_OTHER_SESSION | BIND_SOURCE_MISSING | EFFECT_NOT_COMPENSATED
   */
  async restore(
    checkpoint: string | Checkpoint,
    options: RestoreOptions = {},
  ): Promise<OperationOutput<"restore">> {
    const { control, input: given } = splitControl(options);
    const { compensate = false, onApproval: _, ...input } = given;
    const request = { ...input, session: this.id, checkpoint: checkpointRef(checkpoint) };
    if (compensate) await compensateEffects(this.#stateDir, this.id, request.checkpoint, options);
    return await callOperation(this.#stateDir, "restore", request, control);
  }

  /** Returns what a restore would undo, and changes nothing. */
  async planRestore(
    checkpoint: string | Checkpoint,
    options: PlanOptions = {},
  ): Promise<RestorePlan> {
    const { control, input } = splitControl(options);
    const request = { ...input, session: this.id, checkpoint: checkpointRef(checkpoint) };
    return await callOperation(this.#stateDir, "restore.plan", request, control);
  }

  /** Takes the last operation back, or another. @throws NOTHING_TO_UNDO, as `restore` */
  async undo(options: UndoOptions = {}): Promise<OperationOutput<"undo">> {
    const { control, input } = splitControl(options);
    return await callOperation(this.#stateDir, "undo", { ...input, session: this.id }, control);
  }

  /**
   * Takes back what changed in files between two checkpoints; what came later is kept, and what
   * runs goes on. What was changed again since is in `conflicts` and stays, unless `force`.
   *
   * @throws FILE_REFUSED | FILE_FAILED | SESSION_WRONG_STATE, as `restore`
   */
  async revert(
    from: string | Checkpoint,
    to: string | Checkpoint,
    options: RevertOptions = {},
  ): Promise<OperationOutput<"revert">> {
    const { control, input } = splitControl(options);
    const between = { from: checkpointRef(from), to: checkpointRef(to) };
    const request = { ...input, ...between, session: this.id };
    return await callOperation(this.#stateDir, "revert", request, control);
  }

  /** Returns what a revert would take back, and changes nothing. */
  async planRevert(
    from: string | Checkpoint,
    to: string | Checkpoint,
    options: RevertPlanOptions = {},
  ): Promise<RevertPlan> {
    const { control, input } = splitControl(options);
    const between = { from: checkpointRef(from), to: checkpointRef(to) };
    const request = { ...input, ...between, session: this.id };
    return await callOperation(this.#stateDir, "revert.plan", request, control);
  }

  /** Chooses the command that `checkpoint({ verify: true })` runs and the marks tell; `null`: none. */
  async verifyWith(
    command: VerifyCommand,
    options: { automatic?: boolean } & CallControl = {},
  ): Promise<OperationOutput<"verify.set">> {
    return await chooseVerifyCommand(this.#stateDir, this.id, command, options);
  }

  /** Starts new sessions from one of its checkpoints. @see Checkpoint.fork */
  async fork(checkpoint: string | Checkpoint, options: ForkOptions = {}): Promise<Forks> {
    return await forkCheckpoint(this.#stateDir, checkpointRef(checkpoint), options);
  }

  /** Returns the processes that run in the session. */
  async ps(control: CallControl = {}): Promise<SessionProcess[]> {
    const request = { session: this.id };
    const { processes } = await callOperation(this.#stateDir, "ps", request, control);
    return processes;
  }

  /** Returns the session's timeline; with options, only the checkpoints that fit all of them. */
  async log(options: LogOptions = {}): Promise<OperationOutput<"log">> {
    const { control, input } = splitControl(options);
    return await callOperation(this.#stateDir, "log", { ...input, session: this.id }, control);
  }

  /**
   * Returns what is kept ready to restore and fork the session at once, after choosing it anew.
   *
   * @param policy  `off`, `head` (its head and what an undo goes back to) or a number of its newest
   * checkpoints. @defaultValue stays as it is
   */
  async standby(policy?: string, control: CallControl = {}): Promise<OperationOutput<"standby">> {
    const request = { session: this.id, ...(policy === undefined ? {} : { policy }) };
    return await callOperation(this.#stateDir, "standby", request, control);
  }

  /**
   * Returns what is known of the session's automatic checkpoints, after choosing or pausing them.
   *
   * @param choice.policy    `manual`, `hybrid`, or `command`, `edit`, `task`, `every=5m`, with commas
   * @param choice.paused    take none until it is false again
   * @param choice.taskDone  a task that has just ended: captured if the policy has `task` or `hybrid`
   * @throws SESSION_NOT_FOUND | USAGE_INVALID
   */
  async auto(choice: AutoOptions = {}): Promise<OperationOutput<"auto">> {
    const { control, input } = splitControl(choice);
    return await callOperation(this.#stateDir, "auto", { ...input, session: this.id }, control);
  }

  /** Gives it another name, which {@link info} has from then on. @throws NAME_INVALID | NAME_IN_USE */
  async rename(name: string, control: CallControl = {}): Promise<OperationOutput<"rename">> {
    return await callOperation(this.#stateDir, "rename", { session: this.id, name }, control);
  }

  /**
   * Starts it again after `stop`, or after it has ended: its processes come back from the checkpoint
   * that it stands on; with `fresh`, or without such processes, a shell starts on its files.
   *
   * @throws SESSION_WRONG_STATE | CHECKPOINT_INCOMPLETE | CRIU_RESTORE_FAILED | STORE_FULL
   */
  async start(options: StartOptions = {}): Promise<OperationOutput<"start">> {
    const { control, input } = splitControl(options);
    return await callOperation(this.#stateDir, "start", { ...input, session: this.id }, control);
  }

  /** Ends the session's processes; its files and checkpoints are kept. */
  async stop(
    options: { checkpoint?: boolean } & CallControl = {},
  ): Promise<OperationOutput<"stop">> {
    const { control, input } = splitControl(options);
    return await callOperation(this.#stateDir, "stop", { ...input, session: this.id }, control);
  }

  /** Removes the session, its files and its checkpoints. There is no way back. */
  async remove(options: { force?: boolean } & CallControl = {}): Promise<OperationOutput<"rm">> {
    const { control, input } = splitControl(options);
    return await callOperation(this.#stateDir, "rm", { ...input, session: this.id }, control);
  }

  /**
   * Has a throw-away fork get all of its memory, as any other session does: step by step, while nobody
   * waits and memory is there.
   */
  async keep(control: CallControl = {}): Promise<OperationOutput<"keep">> {
    return await callOperation(this.#stateDir, "keep", { session: this.id }, control);
  }

  /** Removes the files that the session has now; its checkpoints stay. @throws SESSION_WRONG_STATE */
  async removeFiles(control: CallControl = {}): Promise<SessionInfo> {
    return await callOperation(this.#stateDir, "rm.files", { session: this.id }, control);
  }

  /** Connects to the session's terminal: its bytes come out as `stdout` events, keys go in. */
  async attach(options: AttachOptions): Promise<OperationStream<OperationOutput<"attach">>> {
    requireOptions(options);
    const { signal, ...input } = options;
    const request = { ...input, session: this.id };
    const control = signal === undefined ? {} : { signal };
    return await openStream(this.#stateDir, "attach", request, control);
  }
}

/** Gives a checkpoint's facts the methods of the SDK. */
export function bindCheckpoint(stateDir: string, info: OperationOutput<"checkpoint">): Checkpoint {
  return new Checkpoint(info, {
    fork: (checkpoint, options) => forkCheckpoint(stateDir, checkpoint, options),
    verify: (checkpoint, command, options) => verifyOne(stateDir, checkpoint, command, options),
    forget: (...asked) => forgetVerifications(stateDir, ...asked),
    say: (checkpoint, words, control) => {
      if ("intent" in words) {
        return callOperation(stateDir, "describe", { checkpoint, ...words }, control);
      }
      if ("add" in words) return callOperation(stateDir, "tag", { checkpoint, ...words }, control);
      const name = words.name === null ? {} : { name: words.name };
      return callOperation(stateDir, "name", { checkpoint, ...name }, control);
    },
    show: (checkpoint, control) => callOperation(stateDir, "show", { checkpoint }, control),
  });
}

/** Starts new sessions from the checkpoint that `checkpoint` names. */
export async function forkCheckpoint(
  stateDir: string,
  checkpoint: string,
  options: ForkOptions,
): Promise<Forks> {
  const { control, input } = splitControl(options);
  const { sessions } = await callOperation(stateDir, "fork", { ...input, checkpoint }, control);
  return asForks(sessions.map((session) => new Session(stateDir, session, true)));
}
