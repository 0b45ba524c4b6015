import type { Engine } from "../ports/index.ts";

/** A store with less has no room for what forks in advance would write. */
const STORE_FREE_BYTES_MIN = 256 * 1024 * 1024;

/** Returns why nothing may be parked now, `null` where nothing speaks against it. Never throws. */
export function findPressure(engine: Engine): string | null {
  const { freezer, settings, store } = engine;
  if (freezer === null) return "this machine offers no freezer";
  try {
    if (engine.availableMemoryBytes() < settings.standby.reserveBytes) return "memory is short";
    if (store.space.usage().freeBytes < STORE_FREE_BYTES_MIN) return "the store is nearly full";
    return null;
  } catch {
    // A machine out of descriptors for one: what is parked holds some.
    return "nothing tells how much memory and room is left";
  }
}
