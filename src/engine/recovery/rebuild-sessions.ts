import { type SessionRow, sessionRecordSchema } from "../../portable/model/index.ts";
import type { Engine } from "../ports/index.ts";

/**
 * Makes the rows of all sessions again from what the store holds, after the loss of the catalog.
 *
 * With a catalog that was there, a file of a session that it does not know is what a removal left.
 */
export function rebuildSessions(engine: Engine): void {
  const { catalog, store, logger } = engine;
  for (const written of store.sessions.readAll()) {
    const parsed = sessionRecordSchema.safeParse(written);
    if (!parsed.success) {
      logger.warn("a session's file cannot be read", { reason: parsed.error.message });
      continue;
    }
    const session: SessionRow = parsed.data;
    if (catalog.session(session.id) !== undefined) continue;
    if (catalog.isNew) rebuildSession(session, engine);
    else store.sessions.write(session.id, null);
  }
}

function rebuildSession(session: SessionRow, engine: Engine): void {
  const { catalog, store, sandbox, logger } = engine;
  logger.warn("a session was found without its row", { session: session.name });
  catalog.insertSession(session);
  if (session.instance === null) return;
  const { upperDir } = store.instancePaths(session.instance);
  const pid = sandbox.findInitsByUpper(upperDir)[0] ?? null;
  catalog.insertInstance({
    id: session.instance,
    session: session.id,
    pid,
    startTicks: pid === null ? null : sandbox.startTicks(pid),
    address: null,
    fillingFrom: null,
  });
}
