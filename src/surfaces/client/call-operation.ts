import type {
  OperationInput,
  OperationName,
  OperationOutput,
} from "../../shared/protocol/index.ts";
import type { ConnectOptions } from "./connect.ts";
import { openStream } from "./operation-stream.ts";
import { requireOptions } from "./require-arguments.ts";

/** How to call an operation. */
export interface CallOptions extends ConnectOptions {
  /** Told what a person should know meanwhile. */
  onNotice?: (notice: string) => void;
}

/**
 * Calls one operation of the daemon of `stateDir` and returns its result.
 *
 * @throws what the operation throws; DAEMON_UNREACHABLE and CANCELLED as `openStream` does.
 */
export async function callOperation<N extends OperationName>(
  stateDir: string,
  operation: N,
  input: OperationInput<N>,
  options: CallOptions = {},
): Promise<OperationOutput<N>> {
  requireOptions(options);
  const stream = await openStream(stateDir, operation, input, options);
  for await (const event of stream) {
    if (event.kind === "notice") options.onNotice?.(event.notice);
  }
  return await stream.result;
}
