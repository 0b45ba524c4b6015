import type { OperationInput, Verified } from "../../shared/protocol/index.ts";
import type { OnApproval } from "./ask-program.ts";
import type { CallOptions } from "./call-operation.ts";
import type { CollectOptions } from "./collect-output.ts";
import { requireOptions } from "./require-arguments.ts";

/** What every call of the SDK takes: `signal` to give up, `cancel` to undo, `onNotice` to listen. */
export type CallControl = Pick<CallOptions, "signal" | "cancel" | "onNotice">;

/** Options of `Waypoint.new`. */
export type NewOptions = OperationInput<"new"> & CallControl;

/** Options of `Session.checkpoint`. */
export type CheckpointOptions = Omit<OperationInput<"checkpoint">, "session"> & CallControl;

/** Options of `Waypoint.verify`. */
export type VerifyOptions = Omit<OperationInput<"verify">, "checkpoints" | "command"> &
  CallControl & {
    /** Told of each result as it comes; a promise slows the next ones down. */
    onResult?: (verified: Verified) => unknown;
  };
/** Options of `Waypoint.log` and `Session.log`: what checkpoints have to fit, all of it. */
export type LogOptions = Omit<OperationInput<"log">, "session"> & CallControl;

/** Options of `Waypoint.diff`. */
export type DiffOptions = Omit<OperationInput<"diff">, "from" | "to"> & CallControl;

/** Options of `Session.exec`. */
export type ExecOptions = Omit<
  OperationInput<"exec">,
  "session" | "command" | "stdin" | "keepOutputBytes" | "approval"
> &
  Omit<CollectOptions, "onStep"> & {
    signal?: AbortSignal;
    /** Asked when a step waits for approval; `undefined` leaves it to others. */
    onApproval?: OnApproval | undefined;
    /** Given to the command as its whole standard input; needs `shell: "own"`. */
    input?: string | Uint8Array;
  };

/** Options of `Session.spawn`. */
export type SpawnOptions = Omit<ExecOptions, "input" | "onStdout" | "onStderr"> & {
  /** Keeps this much of the beginning of each stream for the result. @defaultValue 0 */
  keepOutputBytes?: number;
  /** The whole standard input, at once or as it comes; needs `shell: "own"`. */
  input?: string | Uint8Array | AsyncIterable<string | Uint8Array>;
};

/** Options of `Waypoint.fork`. */
export type ForkOptions = Omit<OperationInput<"fork">, "checkpoint"> & CallControl;

/** Options of `Session.start`. */
export type StartOptions = Omit<OperationInput<"start">, "session"> & CallControl;

/** Options of `Session.forward`. */
export type ForwardOptions = Omit<OperationInput<"forward">, "session" | "port"> & CallControl;

/** Options of `Session.restore`. */
export type RestoreOptions = Omit<OperationInput<"restore">, "session" | "checkpoint"> &
  CallControl & {
    /** First take back what was done outside since then, the newest first. @defaultValue false */
    compensate?: boolean;
    /** Asked where what takes one back has to be approved; `undefined` leaves it to others. */
    onApproval?: OnApproval | undefined;
  };

/** Options of `Session.planRestore`. */
export type PlanOptions = Omit<OperationInput<"restore.plan">, "session" | "checkpoint"> &
  CallControl;

/** Options of `Session.revert` and, but for those of the capture, `Session.planRevert`. */
export type RevertOptions = Omit<OperationInput<"revert">, "session" | "from" | "to"> & CallControl;
export type RevertPlanOptions = Omit<OperationInput<"revert.plan">, "session" | "from" | "to"> &
  CallControl;

/** Options of `Session.undo`. */
export type UndoOptions = Omit<OperationInput<"undo">, "session"> & CallControl;
/** What `Session.auto` chooses. */
export type AutoOptions = Omit<OperationInput<"auto">, "session"> & CallControl;

/** Options of `Session.attach`. */
export type AttachOptions = Omit<OperationInput<"attach">, "session"> & { signal?: AbortSignal };

/** Takes the call's own options out of the operation's input. @throws USAGE_INVALID */
export function splitControl<T extends CallControl>(
  options: T,
): { control: CallControl; input: Omit<T, keyof CallControl> } {
  requireOptions(options);
  const { signal, cancel, onNotice, ...input } = options;
  return {
    control: {
      ...(signal === undefined ? {} : { signal }),
      ...(cancel === undefined ? {} : { cancel }),
      ...(onNotice === undefined ? {} : { onNotice }),
    },
    input,
  };
}
