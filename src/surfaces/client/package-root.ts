import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Returns the directory of Waypoint's own package.
 *
 * Works from the sources and from the bundle, whose files lie at different depths.
 */
export function findPackageRoot(): string {
  let dir = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(dir, "package.json"))) {
    const parent = path.dirname(dir);
    if (parent === dir) throw new Error("Waypoint's files lie outside its package");
    dir = parent;
  }
  return dir;
}
