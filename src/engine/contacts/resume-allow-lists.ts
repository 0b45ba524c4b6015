import { WaypointError } from "../../shared/errors/index.ts";
import type { Engine } from "../ports/index.ts";

/** Answers the names again that sessions may reach; until then their lists refuse all names. */
export async function resumeAllowLists({ catalog, network, logger }: Engine): Promise<void> {
  for (const { id, session } of catalog.instances()) {
    const allow = catalog.session(session)?.netAllow ?? null;
    if (allow === null || network.contacts.sentPackets(id) === null) continue;
    try {
      await network.contacts.allow(id, allow);
    } catch (error) {
      const reason = error instanceof WaypointError ? error.message : String(error);
      logger.error("a list of what a session may reach", error, { instance: id, reason });
    }
  }
}
