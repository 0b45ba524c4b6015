import type { RecordTools } from "./checkpoint-record.ts";
import type { RecentCheckpoints } from "./recent-checkpoints.ts";
import type { ThreadExpiry } from "./thread-expiry.ts";

/** What the parts of a saver share. */
export interface SaverTools extends RecordTools {
  recent: RecentCheckpoints;
  expiry: ThreadExpiry;
}
