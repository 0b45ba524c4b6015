/**
 * records owns what is kept by threads: small records of bytes under ordered keys, written in steps
 * that happen as a whole. It knows nothing of what the bytes mean; folders beside it keep them.
 */
export { MemoryRecords } from "./memory-records.ts";
export { RetriedRecords } from "./retried-records.ts";
export {
  type Change,
  type ScanOptions,
  type ThreadRecord,
  type ThreadRecords,
  VALUE_BYTES_MAX,
  type WriteConditions,
  type WriteResult,
} from "./thread-records.ts";
