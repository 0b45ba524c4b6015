import path from "node:path";
import type { OperationInput, OperationOutput } from "../../shared/protocol/index.ts";
import { callOperation } from "./call-operation.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { type CallControl, splitControl } from "./options.ts";
import { checkpointRef } from "./require-arguments.ts";

/** Options of `Waypoint.apply`; paths are absolute ones of the session. */
export type ApplyOptions = Omit<OperationInput<"apply">, "checkpoint" | "paths" | "to" | "patch"> &
  CallControl & { paths?: readonly string[]; to?: string };

/** Brings the work of a checkpoint into the files of this machine. */
export async function applyWork(
  stateDir: string,
  checkpoint: string | Checkpoint,
  options: ApplyOptions,
): Promise<OperationOutput<"apply">> {
  const { control, input } = splitControl(options);
  const { paths = [], to, ...rest } = input;
  const request = {
    ...{
      ...rest,
      checkpoint: checkpointRef(checkpoint),
      paths: paths.map((each) => ({ path: each })),
    },
    ...(to === undefined ? {} : { to: { path: path.resolve(to) } }),
  };
  return await callOperation(stateDir, "apply", request, control);
}
