import type { Engine, StreamClient } from "../engine/ports/index.ts";
import { resolveSession } from "../portable/lineage/index.ts";
import type { SessionRow } from "../portable/model/index.ts";

/**
 * Runs `task` with the session's lease, and with its row as it is when the lease is held.
 *
 * @throws CANCELLED  the client left the queue.
 */
export async function withSession<T>(
  reference: string,
  engine: Engine,
  client: Pick<StreamClient, "cancelled">,
  task: (session: SessionRow) => Promise<T>,
): Promise<T> {
  const { id } = resolveSession(reference, engine.catalog);
  await engine.live.arrived(id);
  return engine.leases.run(id, () => task(resolveSession(id, engine.catalog)), client.cancelled);
}
