import { touchedSinceNoted } from "../checkpoint/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import type { SessionState } from "./session-state.ts";

/** Files that nobody has changed for this long have come to rest. */
const REST_MS = 2_000;
/** Files that never come to rest are captured all the same, this often. */
const RESTLESS_MS_MAX = 30_000;

/**
 * Tells whether files were changed since the last capture, and have come to rest.
 *
 * btrfs keeps the time of the last change of a subvolume: one call tells, whatever the number of
 * files. Notices of the kernel (fanotify) would cost something with every write of the session, and
 * tell nothing of what is written through memory.
 */
export function areFilesSettled(live: LiveInstance, state: SessionState, engine: Engine): boolean {
  const touchedAtMs = touchedSinceNoted(live, engine);
  if (touchedAtMs === null) {
    state.writtenSinceMs = null;
    return false;
  }
  const nowMs = performance.now();
  state.writtenSinceMs ??= nowMs;
  const restsMs = Date.now() - touchedAtMs;
  // A clock that was put back must not keep it from ever being captured.
  return restsMs >= REST_MS || nowMs - state.writtenSinceMs >= RESTLESS_MS_MAX;
}
