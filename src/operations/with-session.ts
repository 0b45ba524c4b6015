import type { SessionRow } from "../catalog/index.ts";
import { resolveSession } from "../lineage/index.ts";
import type { EnginePorts } from "../session/index.ts";

/** Runs `task` with the session's lease, and with its row as it is when the lease is held. */
export async function withSession<T>(
  reference: string,
  ports: EnginePorts,
  task: (session: SessionRow) => Promise<T>,
): Promise<T> {
  const { id } = resolveSession(reference, ports.catalog);
  return ports.leases.run(id, () => task(resolveSession(id, ports.catalog)));
}
