/**
 * catalog owns the SQLite index of sessions, instances, checkpoints and operations.
 * It decides nothing; what it says of checkpoints can be rebuilt from their manifests.
 */
export {
  Catalog,
  type CheckpointRow,
  type InstanceRow,
  type OperationRow,
  type SessionRow,
} from "./catalog.ts";
