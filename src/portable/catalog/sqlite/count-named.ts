import { existsSync } from "node:fs";
import { SqliteFile } from "../../sqlite/index.ts";

/** Returns how many sessions and checkpoints a catalog names; `null` where it is missing or damaged. */
export function countNamed(catalogPath: string): number | null {
  if (!existsSync(catalogPath)) return null;
  try {
    using file = SqliteFile.openForReading(catalogPath, "catalog");
    const named =
      "SELECT (SELECT count(*) FROM sessions) + (SELECT count(*) FROM checkpoints) AS count";
    return file.get<{ count: number }>(named)?.count ?? null;
  } catch {
    return null;
  }
}

/** Tells whether there is no catalog, or one without a session or checkpoint. */
export function namesNothing(catalogPath: string): boolean {
  return !existsSync(catalogPath) || countNamed(catalogPath) === 0;
}
