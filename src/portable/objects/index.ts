/**
 * objects owns values of JSON kept by content: bytes under their hash, and long lists, maps and
 * texts as trees of them, so that what two values have in common is kept once.
 * It knows nothing of what the values mean.
 */
export { MemoryObjects } from "./memory-objects.ts";
export { type KeptObjects, type ObjectId, type ObjectStore, objectIdOf } from "./object-store.ts";
export { objectsOf, readValue } from "./read-value.ts";
export { type Sequence, writeSequence } from "./sequence.ts";
export { COARSE_PARTS, FINE_PARTS, type PartSizes, splitBytes } from "./split-text.ts";
export { appendItems, type JsonValue, type StoredValue, storeValue } from "./store-value.ts";
