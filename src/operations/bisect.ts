import { availableParallelism } from "node:os";
import { bisectCheckpoints } from "../engine/bisect/index.ts";
import type { Engine, StreamClient } from "../engine/ports/index.ts";
import { pathBetween, resolveCheckpoint } from "../portable/lineage/index.ts";
import type { OperationOutput, OperationParsedInput } from "../shared/protocol/index.ts";
import { sendLine } from "./send-line.ts";

/**
 * Finds the first bad checkpoint between two; what happens meanwhile is sent as it does, as lines of
 * JSON.
 *
 * @throws CHECKPOINT_NOT_FOUND | REFERENCE_AMBIGUOUS, what {@link pathBetween} and
 * {@link bisectCheckpoints} throw
 */
export async function bisect(
  { good, bad, concurrency, ...request }: OperationParsedInput<"bisect">,
  engine: Engine,
  client: StreamClient,
): Promise<OperationOutput<"bisect">> {
  const path = pathBetween(
    resolveCheckpoint(good, engine.catalog),
    resolveCheckpoint(bad, engine.catalog),
    engine.catalog,
  );
  return await bisectCheckpoints(
    path,
    {
      ...request,
      concurrency: concurrency ?? availableParallelism(),
      signal: client.cancelled,
      tell: (event) => sendLine(client, event),
    },
    engine,
  );
}
