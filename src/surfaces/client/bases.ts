import type { KeptBase, OperationInput, OperationOutput } from "../../shared/protocol/index.ts";
import { callOperation } from "./call-operation.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { type CallControl, splitControl } from "./options.ts";
import { checkpointRef } from "./require-arguments.ts";

/** What a base is a copy of, and how it is called. */
export type AddBaseOptions = OperationInput<"base.add"> & CallControl;

/** The root filesystems that the store keeps for sessions to stand on, which nobody changes. */
export class Bases {
  readonly #stateDir: string;

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
  }

  /**
   * Keeps a copy of a root filesystem: `from` is its directory, an archive, or `/` for this machine.
   *
   * @throws NAME_IN_USE | BASE_INVALID | STORE_FULL
   */
  async add(options: AddBaseOptions): Promise<KeptBase> {
    const { control, input } = splitControl(options);
    return await callOperation(this.#stateDir, "base.add", input, control);
  }

  /** Returns all of them, by name. */
  async list(control: CallControl = {}): Promise<KeptBase[]> {
    const { bases } = await callOperation(this.#stateDir, "base.ls", {}, control);
    return bases;
  }

  /** Returns which files of a live base have changed since a checkpoint, newest first. */
  async changes(
    checkpoint: string | Checkpoint,
    control: CallControl = {},
  ): Promise<OperationOutput<"base.changes">> {
    const request = { checkpoint: checkpointRef(checkpoint) };
    return await callOperation(this.#stateDir, "base.changes", request, control);
  }

  /** Removes one on which nothing stands. @throws BASE_NOT_FOUND | BASE_IN_USE */
  async remove(base: string, control: CallControl = {}): Promise<KeptBase> {
    return await callOperation(this.#stateDir, "base.rm", { base }, control);
  }

  /** Chooses the one for sessions that are given none; `null`: the host's own root. */
  async setDefault(base: string | null, control: CallControl = {}): Promise<KeptBase[]> {
    const { bases } = await callOperation(this.#stateDir, "base.default", { base }, control);
    return bases;
  }
}
