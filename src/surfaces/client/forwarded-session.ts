import { hasCode } from "../../shared/errors/index.ts";
import type {
  Decision,
  Effect,
  Forward,
  LoggedOperation,
  OperationInput,
  OperationOutput,
} from "../../shared/protocol/index.ts";
import { AgentState } from "./agent-state.ts";
import { callOperation } from "./call-operation.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { disposable } from "./disposable.ts";
import {
  doEffect,
  type EffectListOptions,
  type EffectOptions,
  listEffects,
  settlement,
} from "./effects.ts";
import { type CallControl, type ForwardOptions, splitControl } from "./options.ts";
import { checkpointRef } from "./require-arguments.ts";
import { Tasks } from "./tasks.ts";

/** What was decided. */
export type NewDecision = Omit<OperationInput<"note">, "session">;
/** Which contacts to return. */
export interface ContactOptions extends CallControl {
  /** Only since this checkpoint. */
  since?: string | Checkpoint;
}
/** Which decisions to return. */
export type LessonOptions = Omit<OperationInput<"lessons">, "session"> & CallControl;

/** What belongs to a session beside what runs in it: its ports, and what its agent hands over. */
export class ForwardedSession {
  readonly id: string;
  readonly name: string;
  readonly #stateDir: string;

  constructor(stateDir: string, { id, name }: { id: string; name: string }) {
    this.#stateDir = stateDir;
    this.id = id;
    this.name = name;
  }

  /** What its agent has beside the machine: a conversation, a position, whatever else. */
  get state(): AgentState {
    return new AgentState(this.#stateDir, this.id);
  }

  /** The tasks of its agent. */
  get tasks(): Tasks {
    return new Tasks(this.#stateDir, this.id);
  }

  /**
   * Does something to the outside world once, and returns what came of it: now, or when it was done.
   *
   * The intent is on the disk before `work` runs, its outcome after. No restore takes it back: the same
   * key with the same input returns the outcome again, in whichever run. When `work` throws, the effect
   * has failed, and the next call does it again.
   *
   * @throws EFFECT_CONFLICT  the key was used with another input.
   * @throws EFFECT_RUNNING   another process is at it.
   * @throws EFFECT_UNKNOWN   whoever began it died, and there is no `recover`.
   */
  async effect<T>(key: string, options: EffectOptions<T>, work: () => Promise<T>): Promise<T> {
    return await doEffect(this.#stateDir, this.id, key, options, work);
  }

  /**
   * Says what became of an effect of which nobody knows: its outcome, or `null` where it was not done and
   * the next call does it.
   *
   * @throws EFFECT_NOT_FOUND | EFFECT_RUNNING
   */
  async settleEffect(
    key: string,
    found: { outcome: unknown } | null,
    control: CallControl = {},
  ): Promise<Effect> {
    const request = { session: this.id, key, ...settlement(found) };
    return await callOperation(this.#stateDir, "effect.settle", request, control);
  }

  /** Returns what its agent did outside, all of it or `since` a checkpoint. */
  async effects(options: EffectListOptions = {}): Promise<Effect[]> {
    return await listEffects(this.#stateDir, this.id, options);
  }

  /** Notes a decision, or what was learned: no restore takes it back. */
  async decide(decision: NewDecision & CallControl): Promise<Decision> {
    const { control, input } = splitControl(decision);
    return await callOperation(this.#stateDir, "note", { ...input, session: this.id }, control);
  }

  /** Returns whom it talked to outside, ever or `since` a checkpoint, whatever was restored meanwhile. */
  async contacts(options: ContactOptions = {}): Promise<OperationOutput<"contacts">> {
    const { since, ...control } = options;
    const input = {
      session: this.id,
      ...(since === undefined ? {} : { since: checkpointRef(since) }),
    };
    return await callOperation(this.#stateDir, "contacts", input, control);
  }

  /**
   * Returns what was decided on branches that were left, with `all` on its own one, too; `account` is the
   * same in a few lines, for a conversation.
   */
  async lessons(options: LessonOptions = {}): Promise<OperationOutput<"lessons">> {
    const { control, input } = splitControl(options);
    return await callOperation(this.#stateDir, "lessons", { ...input, session: this.id }, control);
  }

  /**
   * Brings a port of the session to 127.0.0.1 of this machine, or of the session `to`; it goes on
   * after a restore of either. With `await using` it ends with its block.
   *
   * @param options.hostPort  @defaultValue a free one, which the result names
   * @throws PORT_IN_USE | FORWARD_REFUSED | SESSION_WRONG_STATE | SESSION_NOT_FOUND
   */
  async forward(port: number, options: ForwardOptions = {}): Promise<Forward & AsyncDisposable> {
    const { control, input } = splitControl(options);
    const request = { ...input, session: this.id, port };
    const forward = await callOperation(this.#stateDir, "forward", request, control);
    const { to } = input;
    return disposable(forward, () =>
      this.stopForward(port, to === undefined ? {} : { to }).catch((error: unknown) => {
        if (!hasCode(error, "FORWARD_NOT_FOUND") && !hasCode(error, "SESSION_NOT_FOUND"))
          throw error;
      }),
    );
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

  /** Returns what was done to the session, oldest first, and how each is taken back. */
  async operations(control: CallControl = {}): Promise<LoggedOperation[]> {
    const request = { session: this.id };
    return (await callOperation(this.#stateDir, "op.log", request, control)).operations;
  }

  /** Returns one of its checkpoints in full, with its story. @throws CHECKPOINT_NOT_FOUND */
  async show(checkpoint: string, control: CallControl = {}): Promise<OperationOutput<"show">> {
    return await callOperation(this.#stateDir, "show", { checkpoint }, control);
  }
}
