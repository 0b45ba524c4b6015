import { requireOwnHistory, resolveCheckpoint, resolveSession } from "../portable/lineage/index.ts";
import type { HandlersOf } from "./operation-handler.ts";

/** What each operation on whom sessions talk to does. */
export const CONTACT_HANDLERS: HandlersOf<"contacts"> = {
  contacts: async ({ session: reference, since }, engine) => {
    const session = resolveSession(reference, engine.catalog);
    if (since === undefined) return await engine.contacts.since(session, null);
    const checkpoint = resolveCheckpoint(since, engine.catalog);
    requireOwnHistory(session, checkpoint, engine.catalog);
    return await engine.contacts.since(session, checkpoint);
  },
};
