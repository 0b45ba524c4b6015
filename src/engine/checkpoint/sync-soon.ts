import type { Engine } from "../ports/index.ts";

/** A first command after the answer comes before the sync, which stops the daemon for a moment. */
const SYNC_DELAY_MS = 20;

/** Brings what was just noted quickly to the disk, right behind the answer. */
export function syncSoon({ catalog, logger }: Engine): void {
  setTimeout(() => {
    try {
      catalog.sync();
    } catch (error) {
      logger.error("sync the catalog", error);
    }
  }, SYNC_DELAY_MS);
}
