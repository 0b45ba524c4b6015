import type { FullVerification, OperationOutput } from "../../shared/protocol/index.ts";
import type { Forks } from "./forks.ts";
import type { CallControl, ForkOptions } from "./options.ts";
import { requireCount, requireOptions } from "./require-arguments.ts";
import type { VerifyCommand } from "./verify.ts";

/** What a checkpoint needs of the rest of the SDK, handed in because sessions make checkpoints. */
export interface CheckpointActions {
  fork: (checkpoint: string, options: ForkOptions) => Promise<Forks>;
  verify: (
    checkpoint: string,
    command: VerifyCommand,
    options: { timeoutMs?: number } & CallControl,
  ) => Promise<FullVerification>;
  forget: (checkpoint: string, command: VerifyCommand, control: CallControl) => Promise<number>;
  say: (
    checkpoint: string,
    words: { name: string | null } | { intent: string } | { add: string[]; remove: string[] },
    control: CallControl,
  ) => Promise<OperationOutput<"name">>;
  show: (checkpoint: string, control: CallControl) => Promise<OperationOutput<"show">>;
}

/** One captured moment of a session. Immutable: `info` is what was known when it was returned. */
export class Checkpoint {
  readonly id: string;
  readonly name: string | null;
  /** Everything that `waypoint checkpoint --json` prints. */
  readonly info: OperationOutput<"checkpoint">;
  readonly #actions: CheckpointActions;

  /** Not for callers: `Session.checkpoint` makes checkpoints. */
  constructor(info: OperationOutput<"checkpoint">, actions: CheckpointActions) {
    this.id = info.id;
    this.name = info.name;
    this.info = info;
    this.#actions = actions;
  }

  /**
   * Starts `count` new sessions from this moment; the session that it captured is not touched.
   *
   * **On failure** none of the new sessions is left.
   *
   * @throws FORK_REFUSED | CRIU_RESTORE_FAILED | NAME_IN_USE
   */
  async fork(count = 1, options: Omit<ForkOptions, "count"> = {}): Promise<Forks> {
    requireCount(count);
    requireOptions(options);
    return await this.#actions.fork(this.id, { ...options, count });
  }

  /**
   * Runs a command in a throw-away fork of exactly this moment, and keeps its result beside it; a
   * command that fails or takes too long is a result, not an error.
   *
   * @param command            `null`: the verify command of its session
   * @param options.timeoutMs  @defaultValue ten minutes
   * @throws FORK_REFUSED | CRIU_RESTORE_FAILED | MEMORY_SHORT | CHECKPOINT_NOT_FOUND | CANCELLED
   */
  async verify(
    command: VerifyCommand,
    options: { timeoutMs?: number } & CallControl = {},
  ): Promise<FullVerification> {
    return await this.#actions.verify(this.id, command, options);
  }

  /** Gives it another name, or none; returns its facts from then on. @throws NAME_IN_USE | NAME_INVALID */
  async setName(name: string | null, control: CallControl = {}): Promise<OperationOutput<"name">> {
    return await this.#actions.say(this.id, { name }, control);
  }

  /** Gives it labels that others may have, too, and takes some away; returns its facts. */
  async tag(
    { add = [], remove = [] }: { add?: string[]; remove?: string[] },
    control: CallControl = {},
  ): Promise<OperationOutput<"tag">> {
    return await this.#actions.say(this.id, { add, remove }, control);
  }

  /** Says what it is, in place of what was said when it was taken; returns its facts. */
  async describe(intent: string, control: CallControl = {}): Promise<OperationOutput<"name">> {
    return await this.#actions.say(this.id, { intent }, control);
  }

  /**
   * Forgets what verifications said of it, and with that its mark; returns how many there were.
   *
   * @param command  only what this one said. @defaultValue all
   */
  async forgetVerifications(
    command: VerifyCommand = null,
    control: CallControl = {},
  ): Promise<number> {
    return await this.#actions.forget(this.id, command, control);
  }

  /** Returns this checkpoint in full, as it is known now. @throws CHECKPOINT_NOT_FOUND */
  async show(control: CallControl = {}): Promise<OperationOutput<"show">> {
    return await this.#actions.show(this.id, control);
  }

  /** Returns {@link info}, so that `JSON.stringify` prints what the command line prints. */
  toJSON(): OperationOutput<"checkpoint"> {
    return this.info;
  }
}
