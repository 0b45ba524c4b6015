import type { Engine, StreamClient } from "../engine/ports/index.ts";
import type {
  OperationName,
  OperationOutput,
  OperationParsedInput,
} from "../shared/protocol/index.ts";

/** Does one operation. Input is validated already. */
export type OperationHandler<N extends OperationName> = (
  input: OperationParsedInput<N>,
  engine: Engine,
  client: StreamClient,
) => Promise<OperationOutput<N>>;

/** Handlers of these operations, by their names. */
export type HandlersOf<Names extends OperationName> = { [N in Names]: OperationHandler<N> };
