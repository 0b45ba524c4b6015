import type { OperationName } from "../shared/protocol/index.ts";
import type { EngineOperations } from "./handlers.ts";

/** Operations after which other checkpoints may be wanted on standby than before. */
const MOVING = [
  "checkpoint",
  "restore",
  "undo",
  "revert",
  "fork",
  "stop",
  "rm",
  "rm.checkpoints",
  "standby",
] as const satisfies readonly OperationName[];

/** Returns the operations such that the standbys are looked at after those that move something. */
export function refreshingStandbys(operations: EngineOperations): EngineOperations {
  const refreshing = Object.fromEntries(
    MOVING.map((name) => {
      const run = operations[name] as EngineOperations["rm"];
      const handler: EngineOperations["rm"] = async (input, engine, client) => {
        try {
          return await run(input, engine, client);
        } finally {
          engine.standbys.refresh();
        }
      };
      return [name, handler];
    }),
  );
  return { ...operations, ...refreshing };
}
