import { type SessionRow, sessionRecordSchema } from "../../portable/model/index.ts";
import type { Engine } from "../ports/index.ts";
import { attempt } from "./attempt.ts";

/**
 * Makes the rows of all sessions again from what the store holds, after the loss of the catalog.
 *
 * With a catalog that was there, a file of a session that it does not know is what a removal left.
 */
export async function rebuildSessions(engine: Engine): Promise<void> {
  const { catalog, store, logger } = engine;
  for (const written of store.sessions.readAll()) {
    const parsed = sessionRecordSchema.safeParse(written);
    if (!parsed.success) {
      logger.warn("a session's file cannot be read", { reason: parsed.error.message });
      continue;
    }
    const session: SessionRow = parsed.data;
    if (catalog.session(session.id) !== undefined) continue;
    const rebuild = () =>
      catalog.isNew
        ? catalog.transaction(() => rebuildSession(session, engine))
        : store.sessions.write(session.id, null);
    await attempt("a session without a row", engine, rebuild, { session: session.name });
  }
}

/** **Requires** a transaction: a session whose instance has no row would be taken to have ended. */
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
