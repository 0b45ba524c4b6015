import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";

/** A damaged catalog may still be of use to a person; it is renamed, never deleted. */
export function setAside(catalogPath: string): void {
  const suffix = new Date().toISOString().replaceAll(":", "-");
  renameSync(catalogPath, `${catalogPath}.damaged-${suffix}`);
  for (const ending of ["-wal", "-shm"]) rmSync(`${catalogPath}${ending}`, { force: true });
}

/** Copies a catalog that cannot be written, with its log, and returns where the copy is. */
export function copyCatalog(catalogPath: string, copyDir: string): string {
  const copyPath = freshCatalog(catalogPath, copyDir);
  for (const ending of ["", "-wal"]) {
    if (existsSync(catalogPath + ending)) copyFileSync(catalogPath + ending, copyPath + ending);
  }
  return copyPath;
}

/** Returns where a catalog can be made in memory; what another daemon left there is gone. */
export function freshCatalog(catalogPath: string, copyDir: string): string {
  rmSync(copyDir, { recursive: true, force: true });
  mkdirSync(copyDir, { recursive: true, mode: 0o700 });
  return path.join(copyDir, path.basename(catalogPath));
}
