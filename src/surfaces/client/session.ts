import type {
  Checkpoint as CheckpointInfo,
  Forward,
  LoggedOperation,
  OperationOutput,
  RestorePlan,
  RevertPlan,
  Session as SessionInfo,
  SessionProcess,
} from "../../shared/protocol/index.ts";
import { callOperation } from "./call-operation.ts";
import { Checkpoint } from "./checkpoint.ts";
import { collectOutput } from "./collect-output.ts";
import { findSession } from "./find-session.ts";
import { type OperationStream, openStream } from "./operation-stream.ts";
import {
  type AttachOptions,
  type AutoOptions,
  type CallControl,
  type CheckpointOptions,
  type ExecOptions,
  type ForkOptions,
  type ForwardOptions,
  type LogOptions,
  type PlanOptions,
  type RestoreOptions,
  type RevertOptions,
  type RevertPlanOptions,
  splitControl,
  type UndoOptions,
} from "./options.ts";
import {
  checkpointRef,
  requireCommand,
  requireInput,
  requireOptions,
} from "./require-arguments.ts";
import { verifyOne } from "./verify.ts";

/** A live computer. Holds no connection: the session lives on when this object is gone. */
export class Session {
  readonly id: string;
  readonly name: string;
  readonly #stateDir: string;

  /** Not for callers: `Waypoint.new` and `Waypoint.session` make sessions. */
  constructor(stateDir: string, { id, name }: { id: string; name: string }) {
    this.#stateDir = stateDir;
    this.id = id;
    this.name = name;
  }

  /** Returns the session's facts as they are now. @throws SESSION_NOT_FOUND  it was removed. */
  async info(control: CallControl = {}): Promise<SessionInfo> {
    const { sessions } = await callOperation(this.#stateDir, "ls", {}, control);
    return findSession(sessions, this.id);
  }

  /**
   * Runs a command and returns its result; a command that fails is a result, not an error.
   *
   * A string is a line of shell, an array a program and its arguments. By default it runs in the
   * session's live shell, so that `cd` and `export` persist for the next call.
   *
   * @throws SESSION_WRONG_STATE | SESSION_ENDED | CANCELLED
   */
  async exec(
    command: string | readonly string[],
    options: ExecOptions = {},
  ): Promise<OperationOutput<"exec">> {
    const words = requireCommand(command);
    requireOptions(options);
    requireInput(options.input);
    const { signal, input, keepOutputBytes, onStdout, onStderr, onNotice, ...rest } = options;
    const stream = await openStream(
      this.#stateDir,
      "exec",
      { ...rest, session: this.id, command: words, stdin: input !== undefined },
      signal === undefined ? {} : { signal },
    );
    const collected = collectOutput(stream, {
      ...(keepOutputBytes === undefined ? {} : { keepOutputBytes }),
      ...(onStdout === undefined ? {} : { onStdout }),
      ...(onStderr === undefined ? {} : { onStderr }),
      ...(onNotice === undefined ? {} : { onNotice }),
    });
    if (input === undefined) return await collected;
    // Both at once: a command may print more than the socket holds before it reads its input.
    const [result] = await Promise.all([collected, sendInput(stream, input)]);
    return result;
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
   * CHECKPOINT_OF_OTHER_SESSION | BIND_SOURCE_MISSING
   */
  async restore(
    checkpoint: string | Checkpoint,
    options: RestoreOptions = {},
  ): Promise<OperationOutput<"restore">> {
    const { control, input } = splitControl(options);
    const request = { ...input, session: this.id, checkpoint: checkpointRef(checkpoint) };
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

  /** Returns what was done to the session, oldest first, and how each is taken back. */
  async operations(control: CallControl = {}): Promise<LoggedOperation[]> {
    const request = { session: this.id };
    return (await callOperation(this.#stateDir, "op.log", request, control)).operations;
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

  /**
   * Brings a port of the session to 127.0.0.1 of this machine, or of the session `to`; it goes on
   * after a restore of either.
   *
   * @param options.hostPort  @defaultValue a free one, which the result names
   * @throws PORT_IN_USE | FORWARD_REFUSED | SESSION_WRONG_STATE | SESSION_NOT_FOUND
   */
  async forward(port: number, options: ForwardOptions = {}): Promise<Forward> {
    const { control, input } = splitControl(options);
    const request = { ...input, session: this.id, port };
    return await callOperation(this.#stateDir, "forward", request, control);
  }

  /** Returns the session's forwarded ports, and those of others that lead to it. */
  async forwards(control: CallControl = {}): Promise<Forward[]> {
    const request = { session: this.id };
    return (await callOperation(this.#stateDir, "forward.list", request, control)).forwards;
  }

  /** Stops forwarding a port; its open connections end. @throws FORWARD_NOT_FOUND */
  async stopForward(port: number, options: { to?: string } & CallControl = {}): Promise<Forward> {
    const { control, input } = splitControl(options);
    const request = { ...input, session: this.id, port };
    return await callOperation(this.#stateDir, "forward.stop", request, control);
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
export function bindCheckpoint(stateDir: string, info: CheckpointInfo): Checkpoint {
  return new Checkpoint(info, {
    fork: (checkpoint, options) => forkCheckpoint(stateDir, checkpoint, options),
    verify: (checkpoint, command, options) => verifyOne(stateDir, checkpoint, command, options),
    show: (checkpoint, control) => callOperation(stateDir, "show", { checkpoint }, control),
  });
}

/** Starts new sessions from the checkpoint that `checkpoint` names. */
export async function forkCheckpoint(
  stateDir: string,
  checkpoint: string,
  options: ForkOptions,
): Promise<Session[]> {
  const { control, input } = splitControl(options);
  const { sessions } = await callOperation(stateDir, "fork", { ...input, checkpoint }, control);
  return sessions.map((session) => new Session(stateDir, session));
}

async function sendInput(
  stream: OperationStream<OperationOutput<"exec">>,
  input: string | Uint8Array,
): Promise<void> {
  await stream.write(typeof input === "string" ? Buffer.from(input, "utf8") : input);
  stream.endInput();
}
