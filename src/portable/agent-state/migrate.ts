import { WaypointError } from "../../shared/errors/index.ts";
import type { JsonValue } from "../objects/index.ts";

/** What a state is: who reads it, and in which form it is. */
export interface StateSchema {
  name: string;
  /** A whole number from 1 on; each change of the form has the next one. */
  version: number;
}

/** Brings a state from one version to the next: the entry at 1 from version 1 to 2. */
export type Migrations = Readonly<Record<number, (state: JsonValue) => JsonValue>>;

/**
 * Returns a state in the form that today's code reads.
 *
 * @param wanted  the schema of today's code.
 * @throws FORMAT_TOO_NEW  newer code has written it.
 * @throws USAGE_INVALID  it is another's state, or a migration is missing.
 */
export function migrateState(
  state: JsonValue,
  found: StateSchema,
  wanted: StateSchema,
  migrations: Migrations,
): JsonValue {
  const detail = { found: { ...found }, wanted: { ...wanted } };
  if (found.name !== wanted.name) {
    const message = `The state is of "${found.name}", and "${wanted.name}" asks for it.`;
    throw new WaypointError("USAGE_INVALID", message, { detail });
  }
  if (found.version > wanted.version) {
    const message = `The state is of version ${found.version} of "${found.name}"; version ${wanted.version} asks for it.`;
    const hint = "Update the agent to the version that wrote the state, or go back further.";
    throw new WaypointError("FORMAT_TOO_NEW", message, { hint, detail });
  }
  let migrated = state;
  for (let version = found.version; version < wanted.version; version += 1) {
    const migration = migrations[version];
    if (migration === undefined) {
      const message = `No migration leads from version ${version} of "${found.name}" to the next.`;
      throw new WaypointError("USAGE_INVALID", message, { detail });
    }
    migrated = migration(migrated);
  }
  return migrated;
}
