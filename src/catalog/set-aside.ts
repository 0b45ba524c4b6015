import { renameSync, rmSync } from "node:fs";

/** A damaged catalog may still be of use to a person; it is renamed, never deleted. */
export function setAside(catalogPath: string): void {
  const suffix = new Date().toISOString().replaceAll(":", "-");
  renameSync(catalogPath, `${catalogPath}.damaged-${suffix}`);
  for (const ending of ["-wal", "-shm"]) rmSync(`${catalogPath}${ending}`, { force: true });
}
