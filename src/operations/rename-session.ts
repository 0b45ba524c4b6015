import type { Engine } from "../engine/ports/index.ts";
import { claimName, describeSession, nameHost, requireFreeName } from "../engine/session/index.ts";
import { resolveSession } from "../portable/lineage/index.ts";
import type { SessionRow } from "../portable/model/index.ts";
import type { OperationOutput } from "../shared/protocol/index.ts";

/**
 * Gives a session another name, and its host too.
 *
 * **Requires** the caller holds the session's lease.
 *
 * @throws NAME_INVALID | NAME_IN_USE
 */
export async function renameSession(
  { id, name: before }: SessionRow,
  wanted: string,
  engine: Engine,
): Promise<OperationOutput<"rename">> {
  const { catalog } = engine;
  const name = claimName(wanted, engine);
  // Whoever makes a session of this name meanwhile waits, and finds it taken.
  await engine.leases.run(`name:${name}`, async () => {
    requireFreeName(name, engine);
    catalog.updateSession(id, { name });
  });
  const running = engine.live.get(id);
  if (running !== undefined) nameHost(running, engine);
  return { session: describeSession(resolveSession(id, catalog), engine), before };
}
