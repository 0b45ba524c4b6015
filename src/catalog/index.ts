/**
 * catalog owns the SQLite index of sessions, instances, checkpoints and operations.
 * It decides nothing; what it says of sessions and checkpoints can be rebuilt from the store.
 */
export { Catalog, type SessionMirror } from "./catalog.ts";
export type {
  CheckpointRow,
  ExtraMounts,
  ForwardRow,
  InstanceRow,
  OperationRow,
  SessionRow,
} from "./rows.ts";
