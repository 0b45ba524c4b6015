import type { ApprovalInfo, OperationOutput } from "../../shared/protocol/index.ts";
import { ApprovalWatch, type WatchOptions } from "./approval-watch.ts";
import { callOperation } from "./call-operation.ts";
import { type CallControl, splitControl } from "./options.ts";
import { requireOptions } from "./require-arguments.ts";

/** An answer to a step that waits. */
export type ApprovalAnswer = { why?: string } & CallControl;

/** The steps that a person has to approve (docs/approvals.md). */
export class Approvals {
  readonly #stateDir: string;

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
  }

  /** Returns those that wait, then earlier ones; of all sessions, or of one. */
  async list(session?: string, control: CallControl = {}): Promise<ApprovalInfo[]> {
    const request = session === undefined ? {} : { session };
    return (await callOperation(this.#stateDir, "approvals", request, control)).approvals;
  }

  /** Tells the steps that wait as they come and go, so that a program can ask its user. */
  watch(options: WatchOptions = {}): ApprovalWatch {
    requireOptions(options);
    return new ApprovalWatch(this.#stateDir, options);
  }

  /** Lets a step run, once. @throws APPROVAL_NOT_FOUND | APPROVAL_SETTLED */
  async approve(approval: string, answer: ApprovalAnswer = {}): Promise<ApprovalInfo> {
    const { control, input } = splitControl(answer);
    return await callOperation(this.#stateDir, "approve", { ...input, approval }, control);
  }

  /** Lets nothing of a step run. @throws APPROVAL_NOT_FOUND | APPROVAL_SETTLED */
  async deny(approval: string, answer: ApprovalAnswer = {}): Promise<ApprovalInfo> {
    const { control, input } = splitControl(answer);
    return await callOperation(this.#stateDir, "deny", { ...input, approval }, control);
  }

  /** Returns what has to be approved in a session, after choosing it: `off`, `default`, or JSON. */
  async policy(
    session: string,
    policy?: string,
    control: CallControl = {},
  ): Promise<OperationOutput<"approval">> {
    const request = { session, ...(policy === undefined ? {} : { policy }) };
    return await callOperation(this.#stateDir, "approval", request, control);
  }
}
